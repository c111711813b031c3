import {
  type CampaignQuery,
  type CampaignRun,
  type RunFigures,
  streamCampaignRuns,
  sumCampaignRuns,
} from '../../ledger/billing/campaign-runs.ts';
import { inSnapshot } from '../../ledger/session.ts';
import { requireKnownNames } from '../billing/known-names.ts';
import type { EngineContext } from '../context.ts';

/** Runs of campaigns, and their sums, all as of one moment. */
export type CampaignReport = {
  readonly runs: AsyncIterable<readonly CampaignRun[]>;
  /** To be asked for before the first run, or after the last one. */
  readonly sums: () => Promise<readonly RunFigures[]>;
};

/**
 * The runs of campaigns, newest first, in constant memory.
 *
 * @throws InputError when a campaign never had a run
 */
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
