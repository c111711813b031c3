import { z } from 'zod';
import { InputError, type RequestState, type RunSummary } from '../domain.ts';
import type { Account } from '../gateway/account.ts';
import { openGateway } from '../gateway/gateway.ts';
import { doubtOrphanedRequests } from '../ledger/requests/orphans.ts';
import { findRun, type Run } from '../ledger/runs/find.ts';
import { lockRunForDispatch } from '../ledger/runs/lock.ts';
import { summariseRun } from '../ledger/runs/summary.ts';
import { moveRun } from '../ledger/runs/transition.ts';
import type { EngineContext } from './context.ts';
import { type DispatchEnd, dispatch } from './dispatch.ts';
import { openRunFiles } from './run-files.ts';

/** How a run ended. `lost`: the database session that kept other processes away broke; what was sent is recorded. */
export type RunEnd = DispatchEnd | { readonly kind: 'lost' };

export type RunProgress = {
  /** Counts when the dispatch began. */
  readonly onStart: (summary: RunSummary) => void;
  readonly onSettled: (state: RequestState, recipients: number) => void;
};

/** What dispatch needs of the definition that was frozen when the run was planned. */
const frozenDefinition = z.object({ dispatch: z.object({ concurrency: z.number(), retries: z.number() }) });

/**
 * Dispatches a planned, paused or interrupted run until nothing is left to send. Requests that an earlier process left
 * in the middle of sending become `in_doubt`; they are not sent again.
 *
 * @param stop drains: no new request, and what is on its way is recorded
 * @throws InputError when there is no such run, it is over, or another process is dispatching it
 */
export async function executeRun(
  context: EngineContext,
  runId: string,
  account: Account,
  stop: AbortSignal,
  progress: RunProgress,
): Promise<RunEnd> {
  const { ledger, now } = context;
  const run = await requireRun(context, runId);
  const lock = await lockRunForDispatch(ledger.pool, runId);
  if (!lock) {
    throw new InputError([
      {
        where: `run ${runId}`,
        what: 'Another process is dispatching this run; wait for it, or stop it first.',
      },
    ]);
  }
  const gateway = openGateway(account);
  try {
    await doubtOrphanedRequests(ledger.pool, runId, now());
    const begun = await moveRun(ledger.knex, runId, 'running', null, now());
    if (begun === 'unchanged') {
      throw new InputError([
        { where: `run ${runId}`, what: `The run is ${run.state}; there is nothing left to send.` },
      ]);
    }
    progress.onStart(await requireSummary(context, runId));

    const { dispatch: settings } = frozenDefinition.parse(run.definition);
    const sender = {
      context,
      gateway,
      run: runId,
      owner: context.randomUuid(),
      channel: run.channel,
      retries: settings.retries,
    };
    const concurrency = Math.min(settings.concurrency, account.concurrency);
    const dispatched = await dispatch(
      sender,
      openRunFiles(ledger.pool, runId),
      concurrency,
      AbortSignal.any([stop, lock.lost]),
      progress.onSettled,
    );
    // Without the lock the run may be another process's by now, and its state with it.
    if (lock.lost.aborted) return { kind: 'lost' };
    const end = await lookForRest(context, runId, dispatched);
    await recordEnd(context, run, end);
    return end;
  } finally {
    await gateway.close();
    await lock.release();
  }
}

/** @throws InputError when there is no such run */
export async function requireSummary({ ledger }: EngineContext, runId: string): Promise<RunSummary> {
  return (await summariseRun(ledger.pool, runId)) ?? noSuchRun(runId);
}

/** @throws InputError when there is no such run */
export async function requireRun({ ledger }: EngineContext, runId: string): Promise<Run> {
  return (await findRun(ledger.knex, runId)) ?? noSuchRun(runId);
}

function noSuchRun(runId: string): never {
  throw new InputError([{ where: `run ${runId}`, what: 'There is no such run; `volley runs` lists them.' }]);
}

/** A run that was asked to stop when there was nothing left to send is finished all the same. */
async function lookForRest(context: EngineContext, runId: string, end: DispatchEnd): Promise<DispatchEnd> {
  if (end.kind !== 'drained') return end;
  const { requests } = await requireSummary(context, runId);
  return requests.planned === 0 ? { kind: 'finished' } : end;
}

async function recordEnd(
  { ledger, now }: EngineContext,
  { run, account }: Run,
  end: DispatchEnd,
): Promise<void> {
  switch (end.kind) {
    case 'finished':
      await moveRun(ledger.knex, run, 'completed', null, now());
      return;
    case 'drained':
      await moveRun(ledger.knex, run, 'paused', 'interrupted', now());
      return;
    case 'refused':
      await moveRun(
        ledger.knex,
        run,
        'paused',
        `the service refused the credential of account "${account}": ${end.words}`,
        now(),
      );
  }
}
