import type { RunState } from '../../domain/runs.ts';
import {
  type AnsweredSlice,
  countRecordedAnswers,
  countRowAnswers,
  countSettledAnswers,
  listAnsweredSlices,
} from '../../ledger/runs/slice-answers.ts';
import type { Transaction } from '../../ledger/session.ts';
import {
  type Answers,
  addAnswers,
  countAnswer,
  type EndedAttempts,
  emptyAnswers,
  joinMinutes,
  type Latency,
  listEnded,
  readLatency,
} from './answers.ts';

/** When the service answered a run, what, and how fast. */
export type RunAnswers = {
  readonly unit: 'second' | 'minute';
  /** In order of time. */
  readonly ended: readonly EndedAttempts[];
  readonly latency: Latency;
  /** Slices whose answers are read. Until it is all of them, the counts are too small. */
  readonly counted: { readonly slices: number; readonly of: number };
};

type KnownSlice = {
  readonly content: string;
  readonly answers: Answers;
  /** Of ordinary requests, up to this change of the slice, which is not done. */
  readonly recorded: { readonly version: number; readonly answers: Answers } | undefined;
};

/** What is known of a run, so that the next look reads only what has changed. */
export type KnownAnswers = {
  readonly slices: Map<number, KnownSlice>;
  /** Of all these slices together. */
  sum: Answers;
  unit: RunAnswers['unit'];
};

export function createKnownAnswers(): KnownAnswers {
  return { slices: new Map(), sum: emptyAnswers(), unit: 'second' };
}

/** Slices in a statement. Each takes 2 to 4 ms. */
const batchSize = 8;

/** Milliseconds in a look for slices that are not held: a first look at a large run takes several. */
const budget = { running: 15, other: 50 } as const;

/** Counts by the second; a run with more of them is counted by the minute. */
const maxCounts = 1_200;

/** Reads the answers that came since the last look: held slices first, then the others, the latest first. */
export async function readRunAnswers(
  client: Transaction,
  { run, state }: { readonly run: string; readonly state: RunState },
  known: KnownAnswers,
  monotonic: () => number,
): Promise<RunAnswers> {
  const slices = await listAnsweredSlices(client, run);
  const stale = slices
    .filter(({ slice, isHeld, content }) => isHeld || known.slices.get(slice)?.content !== content)
    .toSorted((one, other) => Number(other.isHeld) - Number(one.isHeld) || other.claimedTo - one.claimedTo);
  const held = stale.filter(({ isHeld }) => isHeld).length;
  const until = monotonic() + (state === 'running' ? budget.running : budget.other);
  for (let start = 0; start < stale.length; start += batchSize) {
    if (start >= held && monotonic() >= until) break;
    await readSlices(client, run, stale.slice(start, start + batchSize), known);
  }
  return {
    unit: known.unit,
    ended: listEnded(known.sum),
    latency: readLatency(known.sum),
    counted: { slices: slices.filter(({ slice }) => known.slices.has(slice)).length, of: slices.length },
  };
}

async function readSlices(
  client: Transaction,
  run: string,
  slices: readonly AnsweredSlice[],
  known: KnownAnswers,
): Promise<void> {
  const settled = slices.filter(({ isSettled }) => isSettled);
  const open = slices.filter(({ isSettled }) => !isSettled);
  const versions = open.map(({ slice }) => ({
    slice,
    version: known.slices.get(slice)?.recorded?.version ?? 0,
  }));
  const recorded = Map.groupBy(await countRecordedAnswers(client, run, versions), ({ slice }) => slice);
  const others = Map.groupBy(
    [...(await countSettledAnswers(client, run, settled)), ...(await countRowAnswers(client, run, slices))],
    ({ slice }) => slice,
  );
  for (const { slice, content, isSettled } of slices) {
    const answers = emptyAnswers();
    for (const answer of others.get(slice) ?? []) countAnswer(answers, answer);
    const before = known.slices.get(slice)?.recorded;
    const added = recorded.get(slice) ?? [];
    const ordinary = isSettled
      ? undefined
      : { version: added[0]?.version ?? before?.version ?? 0, answers: before?.answers ?? emptyAnswers() };
    if (ordinary) {
      for (const answer of added) countAnswer(ordinary.answers, answer);
      addAnswers(answers, ordinary.answers, 1);
    }
    takeSlice(known, slice, { content, answers, recorded: ordinary });
  }
}

function takeSlice(known: KnownAnswers, slice: number, read: KnownSlice): void {
  const before = known.slices.get(slice);
  if (before) addAnswers(known.sum, before.answers, -1);
  const answers = known.unit === 'minute' ? joinMinutes(read.answers) : read.answers;
  known.slices.set(slice, { ...read, answers });
  addAnswers(known.sum, answers, 1);
  if (known.unit === 'second' && known.sum.ended.size > maxCounts) countByMinute(known);
}

function countByMinute(known: KnownAnswers): void {
  known.unit = 'minute';
  known.sum = joinMinutes(known.sum);
  for (const [slice, each] of known.slices)
    known.slices.set(slice, { ...each, answers: joinMinutes(each.answers) });
}
