import { relative } from 'node:path';
import type { Actor } from '../../domain/access.ts';
import { InputError } from '../../domain/problems.ts';
import { lockRun, recordQuestion } from '../../ledger/run-states/transitions.ts';
import { listContactFiles } from '../../ledger/runs/contact-files.ts';
import { inSession, inSnapshot, inTransaction } from '../../ledger/session.ts';
import {
  listRestsToStart,
  lockRest,
  type RestToStart,
  recordRestProblem,
  recordRestRun,
  tryRestLock,
} from '../../ledger/watch/rests.ts';
import type { EngineContext } from '../context.ts';
import { openKeptContactFile } from '../plan/kept-contact-files.ts';
import { prepareCampaign } from '../plan/prepare-campaign.ts';
import { startCampaign } from '../plan/start-campaign.ts';
import type { Settings } from '../settings.ts';
import { trace } from '../trace-points.ts';

/** `run`: whose rest it is. */
export type StartedRest = { readonly run: string } & (
  | { readonly kind: 'planned'; readonly restRun: string }
  | { readonly kind: 'problem'; readonly problem: string }
);

/** Milliseconds. Another process may have what this one lacks, such as the account. */
const triesAgainAfter = 60_000;

/**
 * Plans the rests of runs whose winner is decided, one process at a time for each: from the campaign as it was written and
 * the kept contact files, made of the run, so recipients of the run are left out. A rest has at most one run: both are
 * committed together.
 */
export async function startRests(
  context: EngineContext,
  settings: Settings,
  onEnd: (end: StartedRest) => void,
): Promise<void> {
  const { pool } = context.ledger;
  const due = () => listRestsToStart(pool, new Date(context.now().getTime() - triesAgainAfter));
  for (const { run } of await due()) {
    const end = await inSession(pool, async (client): Promise<StartedRest | undefined> => {
      if (!(await tryRestLock(client, run))) return undefined;
      try {
        // Another process may have planned it before we held the lock.
        const rest = (await due()).find((each) => each.run === run);
        return rest && { run, kind: 'planned', restRun: await planRest(context, settings, rest) };
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        await recordProblem(context, run, error.message);
        return { run, kind: 'problem', problem: error.message };
      } finally {
        await client.query('SELECT pg_advisory_unlock_all()');
      }
    });
    if (end) onEnd(end);
  }
}

/** The first problem asks a person. */
async function recordProblem({ ledger, now }: EngineContext, run: string, problem: string): Promise<void> {
  await inTransaction(ledger.pool, async (client) => {
    await lockRun(client, run);
    const rest = await lockRest(client, run);
    if (!rest) return;
    await recordRestProblem(client, run, problem, now());
    // The problem itself may quote contacts.
    const question = 'the run of the rest could not be planned; `volley status` says why';
    if (rest.problem === null) await recordQuestion(client, run, question, now());
  });
}

function planRest(
  { actor: _, ...context }: EngineContext,
  settings: Settings,
  { run, variant, campaignFile, source }: RestToStart,
): Promise<string> {
  const path = relative(settings.workingFolder, campaignFile);
  const actor: Actor = { name: `winner of ${run}`, via: 'schedule', token: null };
  return inSnapshot(context.ledger.pool, async (client) => {
    const files = await listContactFiles(client, run);
    const checked = await prepareCampaign(path, settings, {
      former: {
        source,
        files,
        openFile: (file, keep) => openKeptContactFile(client, file, keep),
      },
      winner: variant,
      origin: run,
      keeps: 'files',
    });
    const start = { path, settings, origin: run, checked };
    const { run: restRun } = await startCampaign({ ...context, actor }, start, () => ({
      again: true,
      alongside: async (session, planned) => {
        if (!(await recordRestRun(session, run, planned))) throw new Error('the rest has a run');
      },
    }));
    trace('rest planned', run);
    return restRun;
  });
}
