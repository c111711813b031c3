import {
  type RecipientCounts,
  type RequestCounts,
  type RequestState,
  type RunState,
  requestStates,
} from '../../domain/runs.ts';
import {
  countReportedOfFailed,
  countReportedUnsent,
  type ReportedSums,
  sumReported,
} from '../../ledger/billing/reported-sums.ts';
import { recipientStateOf } from '../../ledger/runs/recipient-state.ts';
import { findRunVersion } from '../../ledger/runs/run-version.ts';
import { listSliceVersions, type SliceVersion } from '../../ledger/runs/slice-figures.ts';
import type { Connection, Transaction } from '../../ledger/session.ts';
import {
  type Answers,
  addAnswers,
  type EndedAttempts,
  emptyAnswers,
  joinMinutes,
  type Latency,
  listEnded,
  readLatency,
} from './answers.ts';
import {
  addCounts,
  emptyCounts,
  readSliceFigures,
  type SliceFigures,
  type StateCounts,
} from './slice-figures.ts';

export type RunFigures = {
  readonly state: RunState;
  readonly requests: RequestCounts;
  readonly recipients: RecipientCounts;
  readonly unit: 'second' | 'minute';
  /** In order of time. */
  readonly ended: readonly EndedAttempts[];
  readonly latency: Latency;
  /** Slices whose figures are read. Until it is all of them, the other figures are too small. */
  readonly counted: { readonly slices: number; readonly of: number };
};

type KnownSlice = { readonly content: string; readonly figures: SliceFigures };

/** What is known of a run, so that the next look reads only what has changed. */
export type KnownRun = {
  content: string;
  readonly slices: Map<number, KnownSlice>;
  /** Of all these slices together. */
  answers: Answers;
  unit: RunFigures['unit'];
};

export function createKnownRun(): KnownRun {
  return { content: '', slices: new Map(), answers: emptyAnswers(), unit: 'second' };
}

export type LookBudget = {
  /** Milliseconds for slices that are not held: a first look at a large run takes several. */
  readonly milliseconds: number;
  readonly monotonic: () => number;
};

/** Slices in a statement. Each takes 2 to 4 ms. */
const batchSize = 8;

/** Counts by the second; a run with more of them is counted by the minute. */
const maxCounts = 1_200;

/**
 * Reads what changed since the last look. It agrees with `reportRun` in the same snapshot, once all is counted.
 *
 * @returns undefined if there is no such run
 */
export async function readRunFigures(
  client: Transaction,
  run: string,
  known: KnownRun,
  reported: Reported,
  budget: LookBudget,
): Promise<RunFigures | undefined> {
  const version = await findRunVersion(client, run);
  if (!version) return undefined;
  const slices = await listSliceVersions(client, run);
  forgetChanged(known, version.content);
  await readStale(client, { run, state: version.state }, slices, known, budget);
  const counts = emptyCounts();
  for (const { figures } of known.slices.values()) addCounts(counts, figures.counts);
  addReported(counts, reported);
  const isCurrent = ({ slice }: SliceVersion): boolean => known.slices.has(slice);
  return {
    state: version.state,
    requests: countRequests(counts),
    recipients: countRecipients(counts, reported),
    unit: known.unit,
    ended: listEnded(known.answers),
    latency: readLatency(known.answers),
    counted: { slices: slices.filter(isCurrent).length, of: slices.length },
  };
}

/** A change of the whole run can change requests that have rows, wherever they are. */
function forgetChanged(known: KnownRun, content: string): void {
  if (known.content !== content) {
    for (const [slice, { figures }] of known.slices) {
      if (canChange(figures.counts)) known.slices.set(slice, { content: '', figures });
    }
  }
  known.content = content;
}

function canChange(counts: StateCounts): boolean {
  return requestStates.some((state) => state !== 'accepted' && counts[state].requests > 0);
}

async function readStale(
  client: Transaction,
  run: { readonly run: string; readonly state: RunState },
  slices: readonly SliceVersion[],
  known: KnownRun,
  { milliseconds, monotonic }: LookBudget,
): Promise<void> {
  const stale = slices
    .filter((version) => version.isHeld || isStale(known.slices.get(version.slice), version))
    .toSorted((one, other) => orderOf(one) - orderOf(other) || other.claimedTo - one.claimedTo);
  const held = stale.filter(({ isHeld }) => isHeld).length;
  const until = monotonic() + milliseconds;
  for (let start = 0; start < stale.length; start += batchSize) {
    if (start >= held && monotonic() >= until) break;
    const batch = stale.slice(start, start + batchSize);
    const read = await readSliceFigures(client, run, batch, known.slices);
    for (const { slice, content } of batch) {
      const figures = read.get(slice);
      if (figures) takeSlice(known, slice, { content, figures });
    }
  }
}

/** Of a cancelled run, requests are still in flight in slices that are done. */
function isStale(known: KnownSlice | undefined, { content }: SliceVersion): boolean {
  return known?.content !== content || known.figures.counts.sending.requests > 0;
}

/** Held slices first, then those with answers, the latest first. */
function orderOf({ isHeld, kind }: SliceVersion): number {
  if (isHeld) return 0;
  return kind === 'untouched' ? 2 : 1;
}

function takeSlice(known: KnownRun, slice: number, read: KnownSlice): void {
  const before = known.slices.get(slice);
  if (before) addAnswers(known.answers, before.figures.answers, -1);
  const { answers, ...figures } = read.figures;
  const counted = known.unit === 'minute' ? joinMinutes(answers) : answers;
  known.slices.set(slice, { ...read, figures: { ...figures, answers: counted } });
  addAnswers(known.answers, counted, 1);
  if (known.unit === 'second' && known.answers.ended.size > maxCounts) countByMinute(known);
}

function countByMinute(known: KnownRun): void {
  known.unit = 'minute';
  known.answers = joinMinutes(known.answers);
  for (const [slice, { content, figures }] of known.slices) {
    known.slices.set(slice, { content, figures: { ...figures, answers: joinMinutes(figures.answers) } });
  }
}

/** Delivery reports of a run, which decide about recipients of requests that were sent. */
export type Reported = ReportedSums & {
  /** Recipients of requests that were never sent. */
  readonly unsent: number;
  readonly ofFailed: readonly (ReportedSums & { readonly state: RequestState })[];
};

export async function readReported(client: Connection, run: string): Promise<Reported> {
  const all = await sumReported(client, run);
  const unsent = await countReportedUnsent(client, run);
  return {
    delivered: all.delivered - unsent.delivered,
    undelivered: all.undelivered - unsent.undelivered,
    unsent: unsent.delivered + unsent.undelivered,
    ofFailed: await countReportedOfFailed(client, run),
  };
}

function addReported(counts: StateCounts, { ofFailed }: Reported): void {
  for (const { state, delivered, undelivered } of ofFailed) {
    counts[state].delivered += delivered;
    counts[state].undelivered += undelivered;
  }
}

function countRequests(counts: StateCounts): RequestCounts {
  const of = (state: RequestState): number => counts[state].requests;
  return {
    total: requestStates.reduce((sum, state) => sum + of(state), 0),
    planned: of('planned'),
    sending: of('sending'),
    accepted: of('accepted'),
    rejected: of('rejected'),
    failed: of('failed'),
    in_doubt: of('in_doubt'),
    cancelled: of('cancelled'),
    abandoned: of('abandoned'),
  };
}

/** A delivery report decides about a recipient, whatever the state of its request, once that was sent. Nearly all requests are accepted. */
function countRecipients(counts: StateCounts, { delivered, undelivered }: ReportedSums): RecipientCounts {
  const recipients = {
    total: 0,
    pending: 0,
    accepted: 0,
    delivered,
    undelivered,
    rejected: 0,
    failed: 0,
    unknown: 0,
    cancelled: 0,
  };
  for (const state of requestStates) {
    const count = counts[state];
    recipients.total += count.recipients;
    recipients[recipientStateOf[state]] +=
      count.recipients - count.cancelled - count.delivered - count.undelivered;
    recipients.cancelled += count.cancelled;
    recipients.accepted += count.delivered + count.undelivered;
  }
  recipients.accepted -= delivered + undelivered;
  return recipients;
}
