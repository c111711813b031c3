import { relative } from 'node:path';
import type { Actor } from '../../domain/access.ts';
import { InputError } from '../../domain/problems.ts';
import { lockRun, recordQuestion } from '../../ledger/run-states/transitions.ts';
import { listContactFiles } from '../../ledger/runs/contact-files.ts';
import { readRunFiles } from '../../ledger/runs/run-files.ts';
import { inSnapshot, inTransaction } from '../../ledger/session.ts';
import {
  listRestsToStart,
  lockRest,
  type RestToStart,
  recordRestProblem,
  recordRestRun,
} from '../../ledger/watch/rests.ts';
import type { EngineContext } from '../context.ts';
import { openKeptContactFile } from '../plan/kept-contact-files.ts';
import { type PreparedCampaign, prepareCampaign } from '../plan/prepare-campaign.ts';
import { startCampaign } from '../plan/start-campaign.ts';
import type { Settings } from '../settings.ts';
import { trace } from '../trace-points.ts';
import { checkPeriodically, type WatchOptions } from './check-periodically.ts';
import { startEach } from './start-each.ts';

/** `run`: whose rest it is. */
export type StartedRest = { readonly run: string } & (
  | { readonly kind: 'planned'; readonly restRun: string }
  | { readonly kind: 'problem'; readonly problem: string }
);

/** Starts the runs that send winners to the rest. Any number of processes may run it. */
export async function watchRests(
  context: EngineContext,
  settings: Settings,
  options: WatchOptions,
): Promise<void> {
  const { logger } = options;
  await checkPeriodically(context, 'winners of variants', options, () =>
    startRests(context, settings, (end) => {
      const { run, kind } = end;
      if (kind === 'planned') logger.info({ run, restRun: end.restRun }, 'rest of the run planned');
      // The problem may quote contacts, so it stays in the ledger.
      else logger.error({ run }, 'rest of the run not planned; `volley status` shows the reason');
    }),
  );
}

/** Milliseconds. Another process may have what this one lacks, such as the account. */
const triesAgainAfter = 60_000;

/**
 * Plans the rests of runs whose winner is decided: from the campaign as it was written, the kept contact files and
 * attachments, made of the run, so recipients of the run are left out. A rest has at most one run: both are committed
 * together.
 */
export async function startRests(
  context: EngineContext,
  settings: Settings,
  onEnd: (end: StartedRest) => void,
): Promise<void> {
  const { pool } = context.ledger;
  await startEach(pool, {
    list: () => listRestsToStart(pool, new Date(context.now().getTime() - triesAgainAfter)),
    nameOf: ({ run }) => `volley rest ${run}`,
    start: async (rest): Promise<StartedRest> => {
      const { run } = rest;
      try {
        return { run, kind: 'planned', restRun: await planRest(context, settings, rest) };
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        await recordProblem(context, run, error.message);
        return { run, kind: 'problem', problem: error.message };
      }
    },
    onEnd,
  });
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
  const { pool } = context.ledger;
  const path = relative(settings.workingFolder, campaignFile);
  const actor: Actor = { name: `winner of ${run}`, via: 'schedule', token: null };
  return inSnapshot(pool, async (client) => {
    const files = await listContactFiles(client, run);
    const prepared = await prepareCampaign(path, settings, {
      former: {
        source,
        files,
        openFile: (file, keep) => openKeptContactFile(client, file, keep),
      },
      winner: variant,
      origin: run,
      keeps: 'files',
    });
    /** What was tested is sent, also if the file has changed since. */
    const read: PreparedCampaign['files']['read'] = async (file) =>
      (await readRunFiles(pool, run, [file]))[0]?.data ?? prepared.files.read(file);
    const checked = { ...prepared, files: { ...prepared.files, read } };
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
