import { LRUCache } from 'lru-cache';
import { type RunCounts, readRunCounts } from '../../ledger/counts/run-counts.ts';
import { type ListFigures, listRuns, type RunFilter, readListFigures } from '../../ledger/runs/find.ts';
import { readTogether } from '../../ledger/session.ts';
import { lastNight, type Period } from '../../platform/zoned-times.ts';
import type { EngineContext } from '../context.ts';

/** A run whose figures are added to others. */
export type GroupedRun = { readonly counts: RunCounts; readonly figures: ListFigures };

export type RunGroups = {
  readonly running: readonly GroupedRun[];
  readonly waiting: readonly GroupedRun[];
  /** Planned in the last night, without tests. */
  readonly ofNight: readonly GroupedRun[];
  readonly night: Period;
};

type Asked = {
  readonly zone: string;
  readonly accounts: readonly string[] | null;
  /** Runs that wait for a person. */
  readonly waiting: readonly string[];
};

/** Runs of a group at most. The list of runs has all of them. */
export const maxGrouped = 500;

/** Milliseconds for which the groups are kept: the list below them is read more often. */
const maxAge = 5_000;

/** Reads runs for the sums above the list of runs, from kept counts, in two round trips. */
export function createRunGroups({
  ledger,
  now,
}: Pick<EngineContext, 'ledger' | 'now'>): (asked: Asked) => Promise<RunGroups> {
  const read = async ({ zone, accounts, waiting }: Asked): Promise<RunGroups> => {
    const night = lastNight(now(), zone);
    const list = async (filter: RunFilter): Promise<string[]> =>
      (await listRuns(ledger.knex, maxGrouped, { accounts, ...filter })).map(({ run }) => run);
    const [running, ofNight] = await Promise.all([
      list({ state: 'running' }),
      list({ kind: 'ordinary', plannedFrom: night.from, plannedBefore: night.until }),
    ]);
    const runs = [...new Set([...running, ...waiting, ...ofNight])];
    const { counts, figures } = await readTogether(ledger.monitoring, (client) => ({
      counts: readRunCounts(client, runs),
      figures: readListFigures(client, runs),
    }));
    const grouped = (names: readonly string[]): GroupedRun[] =>
      names.flatMap((run) => {
        const [ofRun, inList] = [counts.get(run), figures.get(run)];
        return ofRun && inList ? [{ counts: ofRun, figures: inList }] : [];
      });
    return { running: grouped(running), waiting: grouped(waiting), ofNight: grouped(ofNight), night };
  };
  const kept = new LRUCache<string, RunGroups, Asked>({
    max: 100,
    ttl: maxAge,
    fetchMethod: (_, __, { context }) => read(context),
  });
  return (asked) => kept.forceFetch(JSON.stringify(asked), { context: asked });
}
