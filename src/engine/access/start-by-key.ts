import { join } from 'node:path';
import { readCampaign } from '../../campaign/campaign.ts';
import { InputError } from '../../domain/problems.ts';
import {
  findStartedByKey,
  recordStartKey,
  releaseStartKeyLock,
  type StartedByKey,
  type StartKey,
  tryStartKeyLock,
} from '../../ledger/runs/start-keys.ts';
import { inSession } from '../../ledger/session.ts';
import { digestOf } from '../../platform/digest.ts';
import type { EngineContext } from '../context.ts';
import { readText } from '../definition-files.ts';
import { moveContactFiles, ranBeforeFinder, type UnmovedFile } from '../plan/contact-patterns.ts';
import { createKeptContactFiles } from '../plan/kept-contact-files.ts';
import { planRun } from '../plan/plan-run.ts';
import { prepareCampaign } from '../plan/prepare-campaign.ts';
import { listCampaigns } from '../schedule/schedule-folder.ts';
import type { ScheduleSource } from '../schedule/start-ticks.ts';
import type { Settings } from '../settings.ts';

export type StartResult =
  | { readonly kind: 'planned'; readonly run: string }
  | { readonly kind: 'repeated'; readonly run: string }
  | { readonly kind: 'under way' }
  | { readonly kind: 'key of another'; readonly run: string };

type CampaignChoice = {
  readonly campaign: string;
  readonly accounts: readonly string[] | null;
};

export type StartRequest = StartKey & CampaignChoice;

export type StartRun = (
  context: EngineContext,
  request: StartRequest,
  onUnmoved: (stuck: UnmovedFile) => void,
) => Promise<StartResult>;

/**
 * Once for a key, however often and wherever it is asked: the key is committed with the run.
 *
 * @param campaign the name of its file
 * @param accounts only campaigns of these; null for all
 * @throws InputError when there is no such campaign, or it is faulty
 * @throws NothingNewError when all contact files that its pattern matches have been run before
 */
export async function startByKey(
  context: EngineContext,
  source: ScheduleSource,
  { campaign, accounts, ...key }: StartRequest,
  onUnmoved: (stuck: UnmovedFile) => void,
): Promise<StartResult> {
  const request = digestOf(JSON.stringify({ campaign }));
  const { pool } = context.ledger;
  const before = await findStartedByKey(pool, key);
  if (before) return toRepeatedStart(before, request);
  return inSession(pool, async (client) => {
    if (!(await tryStartKeyLock(client, key))) return { kind: 'under way' };
    try {
      // Another one may have started it before the lock was ours.
      const meanwhile = await findStartedByKey(pool, key);
      if (meanwhile) return toRepeatedStart(meanwhile, request);
      return {
        kind: 'planned',
        run: await planCampaign(context, source, { campaign, accounts, request, ...key }, onUnmoved),
      };
    } catch (error) {
      // A session that was lost has lost its lock: somebody else may have been quicker.
      const concurrent = await findStartedByKey(pool, key);
      if (concurrent) return toRepeatedStart(concurrent, request);
      throw error;
    } finally {
      await releaseStartKeyLock(client, key);
    }
  });
}

function toRepeatedStart({ run, request }: StartedByKey, asked: Buffer): StartResult {
  return { kind: request.equals(asked) ? 'repeated' : 'key of another', run };
}

async function planCampaign(
  context: EngineContext,
  { folder, settings }: ScheduleSource,
  { campaign, accounts, request, ...key }: StartKey & CampaignChoice & { readonly request: Buffer },
  onUnmoved: (stuck: UnmovedFile) => void,
): Promise<string> {
  const known = await listCampaigns(folder, settings);
  const path = join(folder, campaign);
  if (accounts !== null) {
    const account = known.includes(campaign) ? await accountOfCampaign(path, settings) : undefined;
    if (account === undefined || !accounts.includes(account)) refuseCampaign(accounts);
  } else if (!known.includes(campaign)) {
    const what = `There is no such file of a campaign here. The files: ${known.join(', ') || 'none'}.`;
    throw new InputError([{ where: 'campaign', what }]);
  }
  // Nobody pipes anything in.
  const { environment, workingFolder } = settings;
  const kept = createKeptContactFiles();
  const prepared = await prepareCampaign(
    path,
    { environment, workingFolder },
    { kept, ranBefore: ranBeforeFinder(context) },
  );
  const run = await planRun(
    context,
    prepared,
    kept,
    { onRead: () => undefined, onExpand: () => undefined },
    {
      // A new key is a wish for a new run.
      again: true,
      // The file may have been given another account since it was looked at.
      alongside: async (client, planned) => {
        if (!(await recordStartKey(client, key, { run: planned, request }))) refuseCampaign(accounts ?? []);
      },
    },
  );
  for (const stuck of await moveContactFiles(prepared, path, settings, run)) onUnmoved(stuck);
  return run;
}

/** @returns undefined where the file is faulty: whose it is, cannot be said */
async function accountOfCampaign(path: string, settings: Settings): Promise<string | undefined> {
  try {
    return readCampaign(await readText(path, settings, 'campaign'), path).value.account;
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

/** Says nothing of the campaigns of other accounts. */
function refuseCampaign(accounts: readonly string[]): never {
  const what = `There is no such file of a campaign of ${accounts.join(', ')} here, or it is faulty (volley check).`;
  throw new InputError([{ where: 'campaign', what }]);
}
