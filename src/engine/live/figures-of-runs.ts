import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { hasEnded, type RunState } from '../../domain/runs.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import { type ListFigures, readListFigures } from '../../ledger/runs/list-figures.ts';
import { bookBilling } from '../billing/billing.ts';
import type { EngineContext } from '../context.ts';
import { currentFor } from './live-runs.ts';
import { share } from './paced-read.ts';

/** A look waits so many milliseconds for figures that take time, and longer for those of a run that has just ended. */
export const firstWait = 100;
const endWait = 2_000;

/** `age`: milliseconds since their reading began. */
type AgedFigures = { readonly figures: ListFigures; readonly age: number };

type StatedRun = Pick<ListedRun, 'run' | 'state'>;

/** Those that are known; the others follow. */
type FiguresOfRuns = (runs: readonly StatedRun[]) => Promise<ReadonlyMap<string, AgedFigures>>;

/**
 * Figures of runs in lists, each run's read again when that is due, or its state has changed: a new run in a list does
 * not make the figures of the others due.
 *
 * @param least milliseconds between two readings of a run
 */
export function createFiguresOfRuns(
  { ledger, monotonic }: Pick<EngineContext, 'ledger' | 'monotonic'>,
  least: number,
): FiguresOfRuns {
  const known = new LRUCache<
    string,
    {
      readonly figures: ListFigures;
      readonly state: RunState;
      readonly began: number;
      readonly dueAt: number;
    }
  >({ max: 2_000 });
  const reading = new Map<string, { readonly state: RunState; readonly done: Promise<void> }>();
  const hasJustEnded = ({ run, state }: StatedRun): boolean =>
    hasEnded(state) && known.has(run) && known.get(run)?.state !== state;
  const isCurrent = ({ run, state }: StatedRun): boolean => {
    const one = known.get(run);
    return one?.state === state && monotonic() - one.began <= currentFor;
  };
  const isDue = ({ run, state }: StatedRun): boolean => {
    const one = known.get(run);
    const isRead = reading.get(run)?.state === state;
    return !isRead && (one?.state !== state || one.dueAt <= monotonic());
  };
  const readDue = async (runs: readonly StatedRun[]): Promise<void> => {
    const began = monotonic();
    try {
      // As before a report: what a run costs is what is booked of it.
      if (runs.some(hasJustEnded)) await bookBilling({ ledger });
      const read = await readListFigures(
        ledger.monitoring,
        runs.map(({ run }) => run),
      );
      const ended = monotonic();
      const dueAt = ended + Math.max(least, (ended - began) * share);
      for (const { run, state } of runs) {
        const figures = read.get(run);
        const isOlder = (known.get(run)?.began ?? began) > began;
        if (figures && !isOlder) known.set(run, { figures, state, began, dueAt });
      }
    } catch {
      // During an outage the page says so. The next look reads them again.
    } finally {
      for (const { run, state } of runs) if (reading.get(run)?.state === state) reading.delete(run);
    }
  };
  return async (runs) => {
    const due = runs.filter(isDue);
    const done = due.length === 0 ? Promise.resolve() : readDue(due);
    for (const { run, state } of due) reading.set(run, { state, done });
    const awaited = runs.flatMap((one) => (isCurrent(one) ? [] : (reading.get(one.run)?.done ?? [])));
    const wait = runs.some(hasJustEnded) ? endWait : firstWait;
    if (awaited.length > 0)
      await Promise.race([Promise.all(awaited), sleep(wait, undefined, { ref: false })]);
    return new Map(
      runs.flatMap(({ run }) => {
        const one = known.get(run);
        return one ? [[run, { figures: one.figures, age: monotonic() - one.began }] as const] : [];
      }),
    );
  };
}
