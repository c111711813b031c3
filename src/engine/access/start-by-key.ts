import { join } from 'node:path';
import { InputError } from '../../domain/problems.ts';
import { inSession } from '../../ledger/connection.ts';
import {
  findStartedByKey,
  keepStartKey,
  releaseStartKeyLock,
  type StartedByKey,
  type StartKey,
  tryStartKeyLock,
} from '../../ledger/runs/started-by-key.ts';
import { digestOf } from '../../platform/digest.ts';
import type { EngineContext } from '../context.ts';
import { filesRanBefore, moveContactFiles, type StuckFile } from '../plan/contact-patterns.ts';
import { keepContactFiles } from '../plan/kept-files.ts';
import { planRun } from '../plan/plan-run.ts';
import { prepareCampaign } from '../plan/prepare.ts';
import { listCampaigns } from '../schedule/served-campaigns.ts';
import type { SchedulePlace } from '../schedule/start-ticks.ts';

/** What came of a wish to start a run. */
export type StartEnd =
  | { readonly kind: 'planned'; readonly run: string }
  /** The run was started before, by this very request. */
  | { readonly kind: 'repeated'; readonly run: string }
  /** The same request is under way. */
  | { readonly kind: 'under way' }
  /** The key was used for another request. */
  | { readonly kind: 'key of another'; readonly run: string };

/**
 * Makes a planned run of a campaign of the folder, once for a key however often and wherever it is asked: the key is
 * committed with the run.
 *
 * @param campaign the name of its file
 * @param onStuck a contact file that could not be moved out of the way; it is not read again all the same
 * @throws InputError when there is no such campaign, or it is faulty
 * @throws NothingNewError when all contact files that its pattern matches have been run before
 */
export async function startByKey(
  context: EngineContext,
  place: SchedulePlace,
  { campaign, ...key }: StartKey & { readonly campaign: string },
  onStuck: (stuck: StuckFile) => void,
): Promise<StartEnd> {
  const request = digestOf(JSON.stringify({ campaign }));
  const { pool } = context.ledger;
  const before = await findStartedByKey(pool, key);
  if (before) return repeated(before, request);
  return inSession(pool, async (client) => {
    if (!(await tryStartKeyLock(client, key))) return { kind: 'under way' };
    try {
      // Another one may have started it before the lock was ours.
      const meanwhile = await findStartedByKey(pool, key);
      if (meanwhile) return repeated(meanwhile, request);
      return { kind: 'planned', run: await plan(context, place, { campaign, request, ...key }, onStuck) };
    } catch (error) {
      // A session that was lost has lost its lock: somebody else may have been quicker.
      const quicker = await findStartedByKey(pool, key);
      if (quicker) return repeated(quicker, request);
      throw error;
    } finally {
      await releaseStartKeyLock(client, key);
    }
  });
}

function repeated({ run, request }: StartedByKey, asked: Buffer): StartEnd {
  return { kind: request.equals(asked) ? 'repeated' : 'key of another', run };
}

async function plan(
  context: EngineContext,
  { folder, settings }: SchedulePlace,
  { campaign, request, ...key }: StartKey & { readonly campaign: string; readonly request: Buffer },
  onStuck: (stuck: StuckFile) => void,
): Promise<string> {
  const known = await listCampaigns(folder, settings);
  if (!known.includes(campaign)) {
    const what = `There is no such file of a campaign here. The files: ${known.join(', ') || 'none'}.`;
    throw new InputError([{ where: 'campaign', what }]);
  }
  const path = join(folder, campaign);
  // Nobody pipes anything in.
  const { environment, workingFolder } = settings;
  const kept = keepContactFiles();
  const prepared = await prepareCampaign(
    path,
    { environment, workingFolder },
    { kept, ranBefore: filesRanBefore(context) },
  );
  const run = await planRun(
    context,
    prepared,
    kept,
    { onRead: () => undefined, onExpand: () => undefined },
    {
      alongside: (client, planned) => keepStartKey(client, key, { run: planned, request }),
    },
  );
  for (const stuck of await moveContactFiles(prepared, path, settings, run)) onStuck(stuck);
  return run;
}
