import { setTimeout as sleep } from 'node:timers/promises';
import { hasEnded } from '../../domain/runs.ts';
import type { Ledger } from '../../ledger/connection.ts';
import { type DispatchProgress, readDispatchProgress } from '../../ledger/slices/progress.ts';
import { isConnectionFailure } from '../../platform/database-failures.ts';
import { hasCode } from '../../platform/file-error.ts';
import type { EngineContext } from '../context.ts';
import { noSuchRun } from '../runs/find-run.ts';

/**
 * The progress of a run over all workers, until it is completed or cancelled and nothing is in flight. Reads its few
 * slices, over connections of their own. A paused run goes on when it is resumed, so it is watched further.
 *
 * @param interval milliseconds
 * @throws InputError when there is no such run
 */
export async function* watchRun(
  { ledger }: EngineContext,
  run: string,
  interval: number,
): AsyncGenerator<Polled<DispatchProgress>, void, undefined> {
  const ask = async (): Promise<DispatchProgress> =>
    (await readDispatchProgress(ledger.monitoring, [run])).get(run) ?? noSuchRun(run);
  for await (const polled of pollLedger(ledger, interval, ask)) {
    yield polled;
    if (polled.kind === 'answer' && hasEnded(polled.answer.state) && polled.answer.heldSlices === 0) return;
  }
}

/** `down` and `up` enclose the time in which the ledger does not answer. */
type Polled<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'down'; readonly error: Error }
  | { readonly kind: 'up' };

/**
 * Asks the ledger again and again, until the caller stops reading. Continues after an outage.
 *
 * @param interval milliseconds between two questions
 */
export async function* pollLedger<Answer>(
  { revive }: Pick<Ledger, 'revive'>,
  interval: number,
  ask: () => Promise<Answer>,
): AsyncGenerator<Polled<Answer>, void, undefined> {
  let isDown = false;
  for (;;) {
    const polled = await askOnce(ask);
    if (polled.kind === 'answer' && isDown) yield { kind: 'up' };
    if (polled.kind === 'answer' || !isDown) yield polled;
    isDown = polled.kind === 'down';
    // An embedded server that was killed is started again.
    if (isDown) await revive(() => undefined).catch(() => undefined);
    await sleep(interval);
  }
}

async function askOnce<Answer>(ask: () => Promise<Answer>): Promise<Polled<Answer>> {
  try {
    return { kind: 'answer', answer: await ask() };
  } catch (error) {
    if (isUnanswered(error)) return { kind: 'down', error };
    throw error;
  }
}

/** Monitoring connections have short time-outs: of a connection, a statement, and its answer. */
function isUnanswered(error: unknown): error is Error {
  if (isConnectionFailure(error)) return true;
  if (!(error instanceof Error)) return false;
  return hasCode(error, '57014') || /time-?out/i.test(error.message);
}
