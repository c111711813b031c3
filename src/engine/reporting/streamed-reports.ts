import type { AsOf } from '../../domain/replica.ts';
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
import { readReport, readReportInSnapshot } from '../../ledger/replica.ts';
import { type FailedRequest, streamFailedRequests } from '../../ledger/requests/list-failed.ts';
import { requireKnownNames } from '../billing/known-names.ts';
import type { EngineContext } from '../context.ts';
import { requireRun } from '../runs/find-run.ts';

type CampaignReport = {
  readonly asOf: AsOf;
  readonly runs: AsyncIterable<readonly CampaignRun[]>;
  readonly sums: readonly RunFigures[];
};

/** Newest first, in constant memory. @throws InputError for a campaign without runs */
export async function reportCampaigns<Result>(
  context: EngineContext,
  query: CampaignQuery,
  use: (report: CampaignReport) => Promise<Result>,
): Promise<Result> {
  await requireKnownNames(context, { campaign: query.campaigns });
  return readReportInSnapshot(context.ledger, context.now, async (client, asOf) => {
    const sums = await sumCampaignRuns(client, query);
    return use({ asOf, sums, runs: streamCampaignRuns(client, query) });
  });
}

export type FailureReport = {
  readonly asOf: AsOf;
  readonly run: string;
  readonly campaign: string;
  readonly kind: RunKind;
  readonly rows: AsyncIterable<readonly FailedRequest[]>;
};

/** Reads in constant memory. @throws InputError when there is no such run */
export async function reportFailures<Result>(
  context: EngineContext,
  run: string,
  use: (report: FailureReport) => Promise<Result>,
): Promise<Result> {
  const { campaign, kind } = await requireRun(context, run);
  return readReport(context.ledger, context.now, (client, asOf) =>
    use({ asOf, run, campaign, kind, rows: streamFailedRequests(client, run) }),
  );
}

/**
 * The longest accepted first, in constant memory. In one snapshot, because no index has the time of acceptance:
 * each page of its own would read and sort every accepted recipient again.
 */
export async function reportMissing<Result>(
  { ledger, now }: EngineContext,
  filter: MissingFilter,
  use: (rows: AsyncIterable<readonly MissingDeliveryReport[]>, asOf: AsOf) => Promise<Result>,
): Promise<Result> {
  return readReportInSnapshot(ledger, now, (client, asOf) =>
    use(streamMissing(client, filter, undefined), asOf),
  );
}
