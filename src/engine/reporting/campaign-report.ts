import { InputError } from '../../domain/problems.ts';
import {
  type CampaignQuery,
  type CampaignRun,
  type RunFigures,
  streamCampaignRuns,
  sumCampaignRuns,
  unknownCampaigns,
} from '../../ledger/billing/campaign-runs.ts';
import { inSnapshot } from '../../ledger/snapshot.ts';
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
  const unknown = await unknownCampaigns(pool, query.campaigns);
  if (unknown.length > 0) {
    const what = 'No run is of this campaign; `volley runs` lists them.';
    throw new InputError(unknown.map((campaign) => ({ where: `campaign ${campaign}`, what })));
  }
  return inSnapshot(pool, async (client) => {
    return use({
      runs: streamCampaignRuns(client, query),
      sums: () => sumCampaignRuns(client, query),
    });
  });
}
