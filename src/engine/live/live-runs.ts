import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { UnappliedReports } from '../../domain/delivery-reports.ts';
import type { RunState } from '../../domain/runs.ts';
import type { RunWait } from '../../domain/waits.ts';
import type { RunCosts } from '../../ledger/billing/run-costs.ts';
import { readLocation } from '../../ledger/location/location.ts';
import { readWorkers } from '../../ledger/operations/workers.ts';
import type { DeliveryResult, RejectionGroup } from '../../ledger/runs/details.ts';
import type { FailureGroup } from '../../ledger/runs/failure-groups.ts';
import { type ListedRun, listRunsBeginning } from '../../ledger/runs/find.ts';
import { inTransaction, type Transaction } from '../../ledger/session.ts';
import { type DispatchProgress, readDispatchProgress } from '../../ledger/slices/progress.ts';
import { createBookedCosts, type ReadBookedCosts } from '../billing/run-costs.ts';
import type { EngineContext } from '../context.ts';
import type { AccountLimits } from '../dispatch/account-limits.ts';
import { waitsOf } from '../runs/waits.ts';
import type { Settings } from '../settings.ts';
import { createUnappliedRead, type PacedRead } from './paced-read.ts';
import { createRateMeter, type Rate, type RateMeter, secondsLeftOf } from './rate-meter.ts';
import { createKnownAnswers, type KnownAnswers, type RunAnswers, readRunAnswers } from './run-answers.ts';
import { createSlowFigures, type RunEvents, type SlowFigures } from './slow-figures.ts';

/** A run as it is now. Undefined figures are being read, and follow. */
export type LiveRun = {
  readonly head: ListedRun;
  readonly at: Date;
  readonly progress: DispatchProgress;
  readonly answers: RunAnswers;
  readonly waits: readonly RunWait[];
  /** Undefined until a second was measured. */
  readonly rate: Rate | undefined;
  /** Null if the run waits, or is not running. */
  readonly secondsLeft: number | null;
  readonly limits: AccountLimits | undefined;
  readonly failures: readonly FailureGroup[] | undefined;
  readonly results: readonly DeliveryResult[] | undefined;
  readonly costs: RunCosts;
  readonly rejections: readonly RejectionGroup[] | undefined;
  readonly events: RunEvents | undefined;
  readonly unapplied: UnappliedReports | undefined;
  /** When they were read. */
  readonly asOf: Partial<Readonly<Record<'answers' | 'failures' | 'results' | 'costs', Date | undefined>>>;
};

/** Milliseconds. A page says when it read a figure that is older. */
export const currentFor = 2_000;

export type LiveRuns = {
  /**
   * Undefined if there is no such run.
   *
   * @param maxAge milliseconds; for older figures of a run that has ended, a page waits, and it shows everything that
   * was committed before it was asked for. Without it, as for a page that is open, both may follow a moment later.
   */
  readonly read: (run: string, maxAge?: number) => Promise<LiveRun | undefined>;
};

type Watched = {
  readonly known: KnownAnswers;
  readonly meter: RateMeter;
  readonly paced: SlowFigures;
  /** As last read, and when they are read again while the run is sent. */
  answers:
    | {
        readonly latest: RunAnswers;
        readonly state: RunState;
        readonly began: number;
        readonly nextAt: number;
      }
    | undefined;
  readAt: number;
  isCounting: boolean;
  /** `hasBegun`: what is committed from then on may not be in it. It does not begin while an earlier one is read. */
  look:
    | { askedAt: number; maxAge: number; hasBegun: boolean; live: Promise<LiveRun | undefined> }
    | undefined;
};

/** Payers that pay most. */
const maxPayers = 10;

/** Runs that are kept in memory: of a million recipients, each takes some megabytes. */
const maxRuns = 8;

/** Looks of pages that are open share one if they come closer together, in milliseconds. */
const sharedFor = 250;

/** While the run is sent, so many times its duration pass between two readings of its answers: sending comes first. */
const share = 100;

const countingPause = { running: 450, other: 250 } as const;

/** Milliseconds. Counting continues so long without a reader, who may reload the page. */
const countsWithoutReader = 10_000;

/** For pages that show runs as they are: each look reads what changed since the last one. */
export function createLiveRuns(
  context: Pick<EngineContext, 'ledger' | 'now' | 'monotonic'>,
  settings: Settings,
): LiveRuns {
  const watched = new LRUCache<string, Watched>({ max: maxRuns });
  const unapplied = createUnappliedRead(context);
  const readCosts = createBookedCosts(context);
  const lookAt = (
    run: string,
    known: Watched,
    maxAge = Number.POSITIVE_INFINITY,
  ): Promise<LiveRun | undefined> => {
    const askedAt = context.monotonic();
    const last = known.look;
    const isRecent = maxAge === Number.POSITIVE_INFINITY && last && askedAt - last.askedAt < sharedFor;
    if (last && last.maxAge <= maxAge && (isRecent || !last.hasBegun)) return last.live;
    const before = last?.live.catch(() => undefined) ?? Promise.resolve();
    const live: Promise<LiveRun | undefined> = before.then(() => {
      next.hasBegun = true;
      return look(context, run, known, maxAge, { unapplied, readCosts });
    });
    const next = { askedAt, maxAge, hasBegun: false, live };
    known.look = next;
    return live;
  };
  return {
    read: async (run, maxAge) => {
      const known = watched.get(run) ?? createWatched(context, settings, run);
      watched.set(run, known);
      known.readAt = context.monotonic();
      const live = await lookAt(run, known, maxAge);
      if (!live) watched.delete(run);
      else if (isIncomplete(live)) void countOn(context, known, () => lookAt(run, known));
      return live;
    },
  };
}

function isIncomplete({ answers: { counted } }: LiveRun): boolean {
  return counted.slices < counted.of;
}

/** Counts a large run to the end, so that a page without a stream has all of it when it is loaded again. */
async function countOn(
  { monotonic }: Pick<EngineContext, 'monotonic'>,
  known: Watched,
  lookAgain: () => Promise<LiveRun | undefined>,
): Promise<void> {
  if (known.isCounting) return;
  known.isCounting = true;
  try {
    for (;;) {
      const live = await lookAgain();
      if (!live || !isIncomplete(live) || monotonic() - known.readAt > countsWithoutReader) return;
      const pause = live.head.state === 'running' ? countingPause.running : countingPause.other;
      await sleep(pause, undefined, { ref: false });
    }
  } catch {
    // The next reader sees what went wrong.
  } finally {
    known.isCounting = false;
  }
}

function createWatched(
  context: Pick<EngineContext, 'ledger' | 'now' | 'monotonic'>,
  settings: Settings,
  run: string,
): Watched {
  return {
    known: createKnownAnswers(),
    meter: createRateMeter(context.monotonic),
    paced: createSlowFigures(context, settings, run),
    answers: undefined,
    readAt: 0,
    isCounting: false,
    look: undefined,
  };
}

/** Ends by itself within a second. */
const oneSnapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

async function look(
  { ledger, now, monotonic }: Pick<EngineContext, 'ledger' | 'now' | 'monotonic'>,
  run: string,
  watched: Watched,
  maxAge: number,
  {
    unapplied,
    readCosts,
  }: { readonly unapplied: PacedRead<UnappliedReports>; readonly readCosts: ReadBookedCosts },
): Promise<LiveRun | undefined> {
  const { meter, paced } = watched;
  await unapplied.refresh();
  const [head] = await listRunsBeginning(ledger.monitoring, run, 1);
  if (head?.run !== run) return undefined;
  await paced.refresh(head, maxAge);
  const readNow = async (client: Transaction) => {
    const progress = (await readDispatchProgress(client, [run])).get(run);
    const { heldReason } = await readLocation(client);
    const answers = await answersOf(client, head, watched, monotonic);
    return progress && { progress, held: heldReason, answers };
  };
  const read = await inTransaction(ledger.monitoring, readNow, oneSnapshot);
  if (!read) return undefined;
  const { progress, answers } = read;
  const { workers } = await readWorkers(ledger.monitoring);
  const { requests, recipients } = progress.counts;
  const rate = meter.measure(progress, { requests: requests.total, recipients: recipients.total });
  const limits = paced.limits.latest();
  const { asOf: costsAsOf, ...costs } = await readCosts(run, progress.state, maxPayers);
  const at = now();
  const agoOf = (age: number): Date | undefined =>
    Number.isFinite(age) ? new Date(at.getTime() - age) : undefined;
  return {
    head: { ...head, state: progress.state, stateReason: progress.stateReason },
    at,
    progress,
    answers,
    waits: waitsOf({ ...read, workers, now: at, rate, limits: limits?.inForce }),
    rate,
    secondsLeft: secondsLeftOf(progress, rate),
    limits,
    failures: paced.failures.latest(),
    results: paced.results.latest(),
    costs,
    rejections: paced.rejections.latest(),
    events: paced.events.latest(),
    unapplied: unapplied.latest(),
    asOf: {
      answers: agoOf(monotonic() - (watched.answers?.began ?? Number.NEGATIVE_INFINITY)),
      failures: agoOf(paced.failures.age()),
      results: agoOf(paced.results.age()),
      costs: costsAsOf,
    },
  };
}

/** Those of a run whose state has changed are read at once. */
async function answersOf(
  client: Transaction,
  head: Pick<ListedRun, 'run' | 'state'>,
  watched: Watched,
  monotonic: () => number,
): Promise<RunAnswers> {
  const before = watched.answers;
  const { state } = head;
  if (state === 'running' && before?.state === state && monotonic() < before.nextAt) return before.latest;
  const began = monotonic();
  const latest = await readRunAnswers(client, head, watched.known, monotonic);
  const ended = monotonic();
  watched.answers = { latest, state, began, nextAt: ended + (ended - began) * share };
  return latest;
}
