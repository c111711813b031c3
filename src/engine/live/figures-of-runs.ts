import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type ListFigures, readListFigures } from '../../ledger/runs/list-figures.ts';
import type { EngineContext } from '../context.ts';
import { share } from './paced-read.ts';

/** A first look waits so many milliseconds for figures that take time. */
export const firstWait = 100;

/** Those that are known; the others follow. */
type FiguresOfRuns = (runs: readonly string[]) => Promise<ReadonlyMap<string, ListFigures>>;

/**
 * Figures of runs in lists, each run's read again when that is due: a new run in a list does not make the figures of
 * the others due.
 *
 * @param least milliseconds between two readings of a run
 */
export function createFiguresOfRuns(
  { ledger, monotonic }: Pick<EngineContext, 'ledger' | 'monotonic'>,
  least: number,
): FiguresOfRuns {
  const known = new LRUCache<string, { readonly figures: ListFigures; readonly dueAt: number }>({
    max: 2_000,
  });
  const reading = new Map<string, Promise<void>>();
  const readDue = async (runs: readonly string[]): Promise<void> => {
    const began = monotonic();
    try {
      const read = await readListFigures(ledger.monitoring, runs);
      const ended = monotonic();
      const dueAt = ended + Math.max(least, (ended - began) * share);
      for (const [run, figures] of read) known.set(run, { figures, dueAt });
    } catch {
      // During an outage the page says so. The next look reads them again.
    } finally {
      for (const run of runs) reading.delete(run);
    }
  };
  return async (runs) => {
    const due = runs.filter(
      (run) => !reading.has(run) && (known.get(run)?.dueAt ?? Number.NEGATIVE_INFINITY) <= monotonic(),
    );
    const read = due.length === 0 ? Promise.resolve() : readDue(due);
    for (const run of due) reading.set(run, read);
    const missing = runs.flatMap((run) => (known.has(run) ? [] : (reading.get(run) ?? [])));
    if (missing.length > 0)
      await Promise.race([Promise.all(missing), sleep(firstWait, undefined, { ref: false })]);
    return new Map(
      runs.flatMap((run) => {
        const one = known.get(run);
        return one ? [[run, one.figures] as const] : [];
      }),
    );
  };
}
