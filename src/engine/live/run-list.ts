import { LRUCache } from 'lru-cache';
import { hasEnded } from '../../domain/runs.ts';
import { isLeftToPerson, needsPerson, type RunWait } from '../../domain/waits.ts';
import { listRunsInDoubt, type RunCounts, readRunCounts } from '../../ledger/counts/run-counts.ts';
import { readLocation } from '../../ledger/location/location.ts';
import { findUnappliedReports } from '../../ledger/operations/figures.ts';
import { readWorkers } from '../../ledger/operations/workers.ts';
import {
  type ListFigures,
  listRunIds,
  listRuns,
  listUnfinishedRuns,
  type RunFilter,
  type RunWithOutcome,
  readListFigures,
} from '../../ledger/runs/find.ts';
import { readTogether } from '../../ledger/session.ts';
import { type DispatchProgress, progressOf, readDispatch } from '../../ledger/slices/progress.ts';
import { listRestsOfPersons } from '../../ledger/watch/rests.ts';
import { lastNight, type Period } from '../../platform/zoned-times.ts';
import { bookSoon } from '../billing/billing.ts';
import type { EngineContext } from '../context.ts';
import { waitsOf } from '../runs/waits.ts';
import { createSpeedReader, type Speed } from './speed.ts';

/** A run in a list. */
export type RunLine = Speed & {
  readonly head: RunWithOutcome;
  readonly progress: DispatchProgress;
  readonly waits: readonly RunWait[];
  readonly figures: ListFigures;
};

export type LiveRunList = Awaited<ReturnType<ReturnType<typeof createLiveRunLists>>>;

export const runsPerPage = 50;
const maxWaiting = 20;
const maxCounted = 500;

/**
 * Reads what pages show that list runs as they are.
 *
 * @returns a reader; `zone` of the last night, where the sums above the list are asked for
 */
export function createLiveRunLists(context: Pick<EngineContext, 'ledger' | 'now' | 'monotonic'>) {
  const { ledger, monotonic } = context;
  const speedOf = createSpeedReader(monotonic);
  const sent = new LRUCache<string, true>({ max: 500 });
  return async (filter: RunFilter, zone?: string) => {
    const { accounts = null } = filter;
    const [found, allWaiting, groups] = await Promise.all([
      listRuns(ledger.knex, runsPerPage + 1, filter),
      filter.before ? [] : listWaiting(context, accounts),
      zone === undefined ? undefined : listGroups(context, { zone, accounts }),
    ]);
    const listed = found.slice(0, runsPerPage);
    const waiting = allWaiting.slice(0, maxWaiting);
    const heads = [...new Map([...waiting, ...listed].map((head) => [head.run, head])).values()];
    const runs = heads.map(({ run }) => run);
    const grouped = groups && { ...groups, waiting: allWaiting.map(({ run }) => run) };
    const counted = [
      ...new Set([...runs, ...(grouped ? [grouped.running, grouped.waiting, grouped.ofNight].flat() : [])]),
    ];
    const look = await readTogether(ledger.monitoring, (client) => ({
      dispatch: readDispatch(client, runs),
      counts: readRunCounts(client, counted),
      location: readLocation(client),
      fleet: readWorkers(client),
      unapplied: findUnappliedReports(client, context.now()),
    }));
    const progresses = progressOf(look.dispatch, look.counts);
    const onHold = look.location.holdReason;
    if (heads.some(({ run, state }) => hasEnded(state) && sent.delete(run))) await bookSoon(context);
    for (const { run, state } of heads) if (state === 'running') sent.set(run, true);
    const figuresOf = await readListFigures(ledger.monitoring, counted);
    const lineOf = (head: RunWithOutcome): RunLine[] => {
      const [progress, figures] = [progresses.get(head.run), figuresOf.get(head.run)];
      if (!progress || !figures) return [];
      const speed = speedOf(head.run, progress);
      const { workers } = look.fleet;
      const waits = waitsOf({ progress, onHold, workers, now: context.now(), perSecond: speed.perSecond });
      return [{ head, progress, waits, ...speed, figures }];
    };
    return {
      /** Those that wait for a person: approval, resume, or requests in doubt. Only of the first page, whatever its filter. */
      waiting: waiting.flatMap(lineOf).filter(({ waits }) => waits.some(needsPerson)),
      /** How many wait besides, which were planned before them. */
      moreWaiting: allWaiting.length - waiting.length,
      /** For the sums above the list, of the same reading; undefined where they are not asked for. */
      groups: grouped && fillGroups(grouped, look.counts, figuresOf),
      runs: listed.flatMap(lineOf),
      /** There are older runs. */
      hasMore: found.length > runsPerPage,
      onHold,
      unapplied: look.unapplied,
    };
  };
}

async function listWaiting(
  { ledger }: Pick<EngineContext, 'ledger'>,
  accounts: readonly string[] | null,
): Promise<readonly RunWithOutcome[]> {
  const { unfinished, inDoubt, rests } = await readTogether(ledger.monitoring, (client) => ({
    unfinished: listUnfinishedRuns(client),
    inDoubt: listRunsInDoubt(client, maxCounted),
    rests: listRestsOfPersons(client),
  }));
  const waiting = unfinished.filter(isLeftToPerson).map(({ run }) => run);
  const runs = [...new Set([...waiting, ...inDoubt, ...rests])];
  if (runs.length === 0) return [];
  const listed = await listRuns(ledger.knex, maxCounted, { accounts, runs });
  // While a run is sent, Volley asks the service about its doubts.
  return listed.filter(({ state }) => state !== 'running');
}

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
