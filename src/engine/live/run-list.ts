import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { UnappliedReports } from '../../domain/delivery-reports.ts';
import type { HoldReason } from '../../domain/reasons.ts';
import { hasEnded } from '../../domain/runs.ts';
import { readLocation } from '../../ledger/location/location.ts';
import { type ListedRun, listRuns, listWaitingRuns, type RunFilter } from '../../ledger/runs/find.ts';
import { type ListFigures, listRunsInDoubt } from '../../ledger/runs/list-figures.ts';
import { type DispatchProgress, readDispatchProgress } from '../../ledger/slices/progress.ts';
import type { EngineContext } from '../context.ts';
import { createFiguresOfRuns, firstWait } from './figures-of-runs.ts';
import { currentFor } from './live-runs.ts';
import { createPacedRead, createUnappliedRead, type PacedRead } from './paced-read.ts';
import { createRateMeter, type Rate, type RateMeter, secondsLeftOf } from './rate-meter.ts';
import { type RunWait, waitsOf } from './waits.ts';

/** A run in a list. Undefined figures follow. */
export type RunLine = {
  readonly head: ListedRun;
  readonly progress: DispatchProgress;
  readonly waits: readonly RunWait[];
  readonly rate: Rate | undefined;
  readonly secondsLeft: number | null;
  readonly figures: ListFigures | undefined;
};

export type LiveRunList = {
  /** Those that wait for a person: approval, resume, or requests in doubt. Only of the first page, whatever its filter. */
  readonly waiting: readonly RunLine[];
  /** How many wait besides, which were planned before them. */
  readonly moreWaiting: number;
  readonly runs: readonly RunLine[];
  readonly at: Date;
  /** When the oldest figures of these runs were read. */
  readonly figuresAsOf: Date | undefined;
  /** There are older runs. */
  readonly hasMore: boolean;
  readonly held: HoldReason | null;
  readonly unapplied: UnappliedReports | undefined;
};

export type LiveRunLists = { readonly read: (filter: RunFilter) => Promise<LiveRunList> };

export const runsPerPage = 50;
const maxWaiting = 20;
const maxCounted = 500;

/** Milliseconds between two readings of what takes time. */
const leastPause = { figures: 1_000, doubts: 3_000 } as const;

/** For pages that list runs as they are. */
export function createLiveRunLists(
  context: Pick<EngineContext, 'ledger' | 'now' | 'monotonic'>,
): LiveRunLists {
  const { ledger, monotonic } = context;
  const meters = new LRUCache<string, RateMeter>({ max: 500 });
  // Progress of a run that is over changes when a doubt is resolved.
  const ended = new LRUCache<string, DispatchProgress>({ max: 2_000, ttl: currentFor });
  const unapplied = createUnappliedRead(context);
  const figuresOf = createFiguresOfRuns(context, leastPause.figures);
  const inDoubt = createPacedRead(context, leastPause.doubts, () =>
    listRunsInDoubt(ledger.monitoring, maxCounted),
  );

  const meterOf = (run: string): RateMeter => {
    const meter = meters.get(run) ?? createRateMeter(monotonic);
    meters.set(run, meter);
    return meter;
  };
  const progressOf = async (heads: readonly ListedRun[]): Promise<ReadonlyMap<string, DispatchProgress>> => {
    const changing = heads.filter(({ run }) => !ended.has(run)).map(({ run }) => run);
    const read = changing.length === 0 ? undefined : await readDispatchProgress(ledger.monitoring, changing);
    for (const [run, progress] of read ?? []) if (hasEnded(progress.state)) ended.set(run, progress);
    const known = heads.map(({ run }) => [run, read?.get(run) ?? ended.get(run)] as const);
    return new Map(known.flatMap(([run, progress]) => (progress ? [[run, progress]] : [])));
  };
  return {
    read: async (filter) => {
      const found = await listRuns(ledger.knex, runsPerPage + 1, filter);
      const listed = found.slice(0, runsPerPage);
      const allWaiting = filter.before ? [] : await listWaiting(context, filter.accounts ?? null, inDoubt);
      const waiting = allWaiting.slice(0, maxWaiting);
      const heads = [...new Map([...waiting, ...listed].map((head) => [head.run, head])).values()];
      const progresses = await progressOf(heads);
      const booked = await figuresOf(heads);
      await unapplied.refresh();
      const { heldReason: held } = await readLocation(ledger.monitoring);
      const lineOf = (head: ListedRun): RunLine[] => {
        const progress = progresses.get(head.run);
        if (!progress) return [];
        const own = booked.get(head.run)?.figures;
        const rate = meterOf(head.run).measure(progress, {
          requests: progress.total,
          recipients: progress.total,
        });
        const facts = {
          progress,
          held,
          preemptedBy: null,
          limits: undefined,
          rate,
          inDoubt: own?.requestsInDoubt ?? 0,
        };
        return [
          {
            head,
            progress,
            waits: waitsOf(facts),
            rate,
            secondsLeft: secondsLeftOf(progress, rate),
            figures: own,
          },
        ];
      };
      const at = context.now();
      const oldest = Math.max(...listed.map(({ run }) => booked.get(run)?.age ?? 0));
      return {
        waiting: waiting.flatMap(lineOf).filter(({ waits }) => waits.some(needsPerson)),
        moreWaiting: allWaiting.length - waiting.length,
        runs: listed.flatMap(lineOf),
        at,
        figuresAsOf: listed.length > 0 ? new Date(at.getTime() - oldest) : undefined,
        hasMore: found.length > runsPerPage,
        held,
        unapplied: unapplied.latest(),
      };
    },
  };
}

/** Whether a person must act, not Volley. */
export function needsPerson({ kind }: RunWait): boolean {
  return kind === 'approval' || kind === 'resume' || kind === 'doubts' || kind === 'ledger on hold';
}

async function listWaiting(
  { ledger }: Pick<EngineContext, 'ledger'>,
  accounts: readonly string[] | null,
  inDoubt: PacedRead<readonly string[]>,
): Promise<readonly ListedRun[]> {
  const first = inDoubt.latest() === undefined;
  const refreshed = inDoubt.refresh();
  if (first) await Promise.race([refreshed, sleep(firstWait, undefined, { ref: false })]);
  const unfinished = (await listWaitingRuns(ledger.monitoring)).map(({ run }) => run);
  const runs = [...new Set([...unfinished, ...(inDoubt.latest() ?? [])])];
  if (runs.length === 0) return [];
  const listed = await listRuns(ledger.knex, maxCounted, { accounts, runs });
  // While a run is sent, Volley asks the service about its doubts.
  return listed.filter(({ state }) => state !== 'running');
}
