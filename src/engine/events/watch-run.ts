import { hasEnded } from '../../domain/runs.ts';
import { type DispatchProgress, readDispatchProgress } from '../../ledger/slices/progress.ts';
import type { EngineContext } from '../context.ts';
import { noSuchRun } from '../runs/find-run.ts';
import { type Polled, pollLedger } from './poll-ledger.ts';

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
    if (polled.kind === 'answer' && hasEnded(polled.answer.state) && polled.answer.held === 0) return;
  }
}
