import type { RunKind } from '../../domain/runs.ts';
import {
  type CampaignQuery,
  type CampaignRun,
  type RunFigures,
  streamCampaignRuns,
  sumCampaignRuns,
} from '../../ledger/billing/run-costs.ts';
import {
  type MissingDeliveryReport,
  type MissingFilter,
  streamMissing,
} from '../../ledger/delivery-reports/missing.ts';
import { type FailedRequest, streamFailedRequests } from '../../ledger/requests/list-failed.ts';
import { inSnapshot } from '../../ledger/session.ts';
import { requireKnownNames } from '../billing/known-names.ts';
import type { EngineContext } from '../context.ts';
import { requireRun } from '../runs/find-run.ts';

type CampaignReport = {
  readonly runs: AsyncIterable<readonly CampaignRun[]>;
  /** Call it before the first run or after the last. */
  readonly sums: () => Promise<readonly RunFigures[]>;
};

/** Newest first, in constant memory. @throws InputError for a campaign without runs */
export async function reportCampaigns<Result>(
  context: EngineContext,
  query: CampaignQuery,
  use: (report: CampaignReport) => Promise<Result>,
): Promise<Result> {
  const { pool } = context.ledger;
  await requireKnownNames(context, { campaign: query.campaigns });
  return inSnapshot(pool, async (client) => {
    return use({
      runs: streamCampaignRuns(client, query),
      sums: () => sumCampaignRuns(client, query),
    });
  });
}

type FailureReport = {
  readonly run: string;
  readonly campaign: string;
  readonly kind: RunKind;
  readonly rows: AsyncIterable<readonly FailedRequest[]>;
};

/** Reads in constant memory. @throws InputError when there is no such run */
export async function reportFailures(context: EngineContext, run: string): Promise<FailureReport> {
  const { campaign, kind } = await requireRun(context, run);
  return { run, campaign, kind, rows: streamFailedRequests(context.ledger.pool, run) };
}

/**
 * The longest accepted first, in constant memory. In one snapshot, because no index has the time of acceptance:
 * each page of its own would read and sort every accepted recipient again.
 */
export async function reportMissing<Result>(
  { ledger }: EngineContext,
  filter: MissingFilter,
  use: (rows: AsyncIterable<readonly MissingDeliveryReport[]>) => Promise<Result>,
): Promise<Result> {
  return inSnapshot(ledger.pool, async (client) => {
    return use(streamMissing(client, filter, undefined));
  });
}
