import type { RunCounts } from '../../ledger/counts/run-counts.ts';
import { type ListFigures, listRunIds, type RunFilter } from '../../ledger/runs/find.ts';
import { lastNight, type Period } from '../../platform/zoned-times.ts';
import type { EngineContext } from '../context.ts';

/** A run whose figures are added to others. */
export type GroupedRun = { readonly counts: RunCounts; readonly figures: ListFigures };

/** Runs for the sums above the list of runs. */
type Groups<Of> = {
  readonly running: readonly Of[];
  readonly waiting: readonly Of[];
  /** Planned in the last night, without tests. */
  readonly ofNight: readonly Of[];
  readonly night: Period;
};

export type RunGroups = Groups<GroupedRun>;

/** Runs of a group at most. The list of runs has all of them. */
export const maxGrouped = 500;

/** Lists the ids of the runs. */
export async function listGroups(
  { ledger, now }: Pick<EngineContext, 'ledger' | 'now'>,
  { zone, accounts }: { readonly zone: string; readonly accounts: readonly string[] | null },
): Promise<Omit<Groups<string>, 'waiting'>> {
  const night = lastNight(now(), zone);
  const list = (filter: RunFilter) => listRunIds(ledger.knex, maxGrouped, { accounts, ...filter });
  const [running, ofNight] = await Promise.all([
    list({ state: 'running' }),
    list({ kind: 'ordinary', plannedFrom: night.from, plannedBefore: night.until }),
  ]);
  return { running, ofNight, night };
}

/** The groups with what was read of their runs. */
export function fillGroups(
  { running, waiting, ofNight, night }: Groups<string>,
  counts: ReadonlyMap<string, RunCounts>,
  figures: ReadonlyMap<string, ListFigures>,
): RunGroups {
  const read = (runs: readonly string[]): GroupedRun[] =>
    runs.flatMap((run) => {
      const [ofRun, inList] = [counts.get(run), figures.get(run)];
      return ofRun && inList ? [{ counts: ofRun, figures: inList }] : [];
    });
  // A run may have ended since it was listed.
  const stillRunning = read(running).filter(({ counts: { state } }) => state === 'running');
  return { running: stillRunning, waiting: read(waiting), ofNight: read(ofNight), night };
}
