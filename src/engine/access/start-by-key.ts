import { join } from 'node:path';
import { readCampaign } from '../../campaign/campaign.ts';
import { InputError } from '../../domain/problems.ts';
import type { StartKey } from '../../ledger/runs/start-keys.ts';
import type { EngineContext } from '../context.ts';
import { readText } from '../definition-files.ts';
import type { UnmovedFile } from '../plan/contact-patterns.ts';
import type { AlongsideRun } from '../plan/make-run.ts';
import { startCampaign } from '../plan/start-campaign.ts';
import { listCampaigns } from '../schedule/schedule-folder.ts';
import type { ScheduleSource } from '../schedule/start-ticks.ts';
import type { Settings } from '../settings.ts';
import { oncePerKey, type StartResult } from './once-per-key.ts';

type CampaignChoice = {
  readonly campaign: string;
  readonly accounts: readonly string[] | null;
};

export type StartRequest = StartKey & CampaignChoice;

export type StartRun = (context: EngineContext, request: StartRequest) => Promise<StartResult>;

/**
 * Starts one run per key: both are committed together.
 *
 * @param accounts allowed accounts; null for all
 * @throws InputError when the campaign is unknown or faulty
 * @throws NothingNewError when every matching contact file has already run
 */
export async function startByKey(
  context: EngineContext,
  source: ScheduleSource,
  { campaign, accounts, ...key }: StartRequest,
  onUnmoved: (file: UnmovedFile) => void,
): Promise<StartResult> {
  const plan = async (alongside: AlongsideRun): Promise<string> => {
    const path = await requireCampaign(source, { campaign, accounts });
    // A new key asks for a new run.
    const options = { again: true, alongside };
    const { run, unmoved } = await startCampaign(context, { path, settings: source.settings }, () => options);
    for (const file of unmoved) onUnmoved(file);
    return run;
  };
  // The file may name another account by now.
  return oncePerKey(context, { ...key, request: { campaign } }, plan, () => refuseCampaign(accounts ?? []));
}

/** @returns the path of the file */
async function requireCampaign(
  { folder, settings }: ScheduleSource,
  { campaign, accounts }: CampaignChoice,
): Promise<string> {
  const known = await listCampaigns(folder, settings);
  const path = join(folder, campaign);
  if (accounts !== null) {
    const account = known.includes(campaign) ? await accountOfCampaign(path, settings) : undefined;
    if (account === undefined || !accounts.includes(account)) refuseCampaign(accounts);
  } else if (!known.includes(campaign)) {
    const what = `There is no such campaign file. The files: ${known.join(', ') || 'none'}.`;
    throw new InputError([{ where: 'campaign', what }]);
  }
  return path;
}

/** @returns undefined for a faulty file */
async function accountOfCampaign(path: string, settings: Settings): Promise<string | undefined> {
  try {
    return readCampaign(await readText(path, settings, 'campaign'), path).value.account;
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

/** Reveals nothing about campaigns of other accounts. */
function refuseCampaign(accounts: readonly string[]): never {
  const what = `There is no such campaign file of account ${accounts.join(' or ')}, or it is faulty (volley plan --check).`;
  throw new InputError([{ where: 'campaign', what }]);
}
