import type { EngineContext } from '../context.ts';
import type { Settings } from '../settings.ts';
import {
  createRanBeforeFinder,
  type FindRanBefore,
  moveContactFiles,
  type UnmovedFile,
} from './contact-patterns.ts';
import { type PlanOptions, planRun } from './plan-run.ts';
import type { PlanRequest } from './planned-campaign.ts';
import { type PreparedCampaign, prepareCampaign } from './prepare-campaign.ts';

/** A campaign to start, and what its operator chose for this run. */
export type CampaignToStart = PlanRequest & {
  /** Relative to the working folder. */
  readonly path: string;
  readonly settings: Settings;
  readonly testRow?: number | undefined;
};

/** `checked`: the campaign, if its caller has prepared it without a ledger. */
export type StartRequest = CampaignToStart & { readonly checked?: PreparedCampaign };

export type StartedCampaign = {
  readonly run: string;
  /** As it was started. */
  readonly prepared: PreparedCampaign;
  /** Contact files that could not be moved to `contacts.moveTo`. No later run reads them again. */
  readonly unmoved: readonly UnmovedFile[];
};

/**
 * Prepares a campaign for a run. A caller without a ledger does so first, to report errors early.
 *
 * @throws InputError with every problem of the first file that has any
 */
export function prepareToStart(
  { path, settings, ...choices }: CampaignToStart,
  ranBefore?: FindRanBefore,
): Promise<PreparedCampaign> {
  return prepareCampaign(path, settings, { ...choices, keeps: 'files', ranBefore });
}

/**
 * The one way in which campaigns start, from the command line, the API, the dashboard and schedules: prepares the
 * campaign, plans its run with its files kept, and moves the files. The run is queued, so workers send it, unless it
 * waits for approval.
 *
 * @param optionsOf in which this caller's plan differs from others
 * @throws InputError and RefusedRunError as `prepareCampaign` and `planRun` do
 * @throws NothingNewError when every matching contact file has already run
 */
export async function startCampaign(
  context: EngineContext,
  { checked, ...campaign }: StartRequest,
  optionsOf: (prepared: PreparedCampaign) => PlanOptions,
): Promise<StartedCampaign> {
  const { path, settings, limit, origin } = campaign;
  let prepared = checked;
  // Only the ledger knows which files of a pattern have run. A test reads any.
  if (!prepared || (prepared.matched.length > 0 && !prepared.test)) {
    await prepared?.close();
    prepared = await prepareToStart(campaign, createRanBeforeFinder(context, origin));
  }
  const run = await planRun(context, prepared, optionsOf(prepared));
  // The rest of a limited run, or the run after a test, needs them where they are.
  const isMovable = limit === undefined && !prepared.test;
  return { run, prepared, unmoved: isMovable ? await moveContactFiles(prepared, path, settings, run) : [] };
}
