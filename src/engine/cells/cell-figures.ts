import { type Closing, findClosingOf } from '../../ledger/billing/close.ts';
import { type BillingQuery, type BillingReport, reportBilling } from '../../ledger/billing/report.ts';
import {
  type CampaignQuery,
  type CampaignRun,
  type RunFigures,
  streamCampaignRuns,
  sumCampaignRuns,
} from '../../ledger/billing/run-costs.ts';
import { inSnapshot } from '../../ledger/session.ts';
import { findUnknown, type UnknownName } from '../billing/known-names.ts';
import type { EngineContext } from '../context.ts';

/** What one cell knows of the names that are asked for. A name is unknown if no cell has it. */
type Named = { readonly unknown: readonly UnknownName[] };

export type CellBilling = BillingReport & Named & { readonly closing: Closing | undefined };

/** The billing report of a cell, of one moment. In memory: about a kilobyte a line. */
export async function readCellBilling(context: EngineContext, query: BillingQuery): Promise<CellBilling> {
  const unknown = await findUnknown(context, query.filter);
  const { until, timeZone } = query;
  return inSnapshot(context.ledger.pool, async (client) => ({
    unknown,
    ...(await reportBilling(client, query)),
    closing: until === null ? undefined : await findClosingOf(client, until, timeZone),
  }));
}

type CellCampaigns = Named & { readonly runs: readonly CampaignRun[]; readonly sums: readonly RunFigures[] };

/** The runs of campaigns in a cell, newest first, of one moment. */
export async function readCellCampaigns(
  context: EngineContext,
  query: CampaignQuery,
): Promise<CellCampaigns> {
  const unknown = await findUnknown(context, { campaign: query.campaigns });
  return inSnapshot(context.ledger.pool, async (client) => {
    const runs: CampaignRun[] = [];
    for await (const batch of streamCampaignRuns(client, query)) runs.push(...batch);
    return { unknown, runs, sums: await sumCampaignRuns(client, query) };
  });
}
