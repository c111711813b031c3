import type { RequestState, RunState } from '../../domain/runs.ts';
import { requestStates } from '../../domain/runs.ts';
import { type ReadOutcomes, readOutcomes } from '../../ledger/events/read-slices.ts';
import { countRowAnswers, countSettledAnswers } from '../../ledger/runs/slice-answers.ts';
import {
  countPlannedRecipients,
  countRowsOfSlices,
  type EarlyReport,
  listEarlyReports,
  type OpenSlice,
  type RowCount,
  readOpenSlices,
  type SliceVersion,
} from '../../ledger/runs/slice-figures.ts';
import type { Transaction } from '../../ledger/session.ts';
import { type Answers, addAnswers, countAnswer, cutToTwoDigits, emptyAnswers } from './answers.ts';

/** Requests in one state, and their recipients. */
export type StateCount = {
  requests: number;
  recipients: number;
  /** Of the recipients, suppressed after planning. */
  cancelled: number;
  /** Of the recipients, with a delivery report although the request is not accepted yet. */
  delivered: number;
  undelivered: number;
};

export type StateCounts = Record<RequestState, StateCount>;

export type SliceFigures = {
  readonly counts: StateCounts;
  readonly answers: Answers;
  /** Of an open slice: what the next look adds to. */
  readonly open: OpenFigures | undefined;
};

type OpenFigures = {
  readonly sizes: readonly number[];
  /** The last change whose outcomes were read. */
  version: number;
  /** Ordinary requests with an answer, and these answers. */
  readonly accepted: Set<number>;
  readonly answers: Answers;
};

const countOf = (): StateCount => ({
  requests: 0,
  recipients: 0,
  cancelled: 0,
  delivered: 0,
  undelivered: 0,
});

export function emptyCounts(): StateCounts {
  return {
    planned: countOf(),
    sending: countOf(),
    accepted: countOf(),
    rejected: countOf(),
    failed: countOf(),
    in_doubt: countOf(),
    cancelled: countOf(),
    abandoned: countOf(),
  };
}

export function addCounts(sum: StateCounts, counts: StateCounts): void {
  for (const state of requestStates) addCount(sum[state], counts[state]);
}

function addCount(sum: StateCount, count: StateCount): void {
  sum.requests += count.requests;
  sum.recipients += count.recipients;
  sum.cancelled += count.cancelled;
  sum.delivered += count.delivered;
  sum.undelivered += count.undelivered;
}

/** Unclaimed requests without rows are cancelled with their run. */
const unclaimed = (state: RunState): RequestState => (state === 'cancelled' ? 'cancelled' : 'planned');

/**
 * Reads the figures of slices. Outcomes of an open slice that were read before are not read again.
 *
 * @param known as last read, by slice
 */
export async function readSliceFigures(
  client: Transaction,
  { run, state }: { readonly run: string; readonly state: RunState },
  slices: readonly SliceVersion[],
  known: ReadonlyMap<number, { readonly figures: SliceFigures }>,
): Promise<Map<number, SliceFigures>> {
  const rows = Map.groupBy(await countRowsOfSlices(client, run, slices), ({ slice }) => slice);
  const withRows = slices.filter(({ slice }) => rows.has(slice));
  const rowAnswers = await readRowAnswers(client, run, withRows);
  const whole = slices.filter(({ kind }) => kind !== 'open');
  const planned = new Map(
    (whole.length === 0 ? [] : await countPlannedRecipients(client, run, whole)).map(
      ({ slice, recipients }) => [slice, recipients],
    ),
  );
  const settled = slices.filter(({ kind }) => kind === 'settled');
  const settledAnswers = settled.length === 0 ? [] : await countSettledAnswers(client, run, settled);
  const answersOf = Map.groupBy(settledAnswers, ({ slice }) => slice);
  const open = await readOpen(client, run, slices, known);
  return new Map(
    slices.map((version): [number, SliceFigures] => {
      const { slice } = version;
      const answers = rowAnswers.get(slice) ?? emptyAnswers();
      for (const answer of answersOf.get(slice) ?? []) countAnswer(answers, answer);
      const found = open.get(slice);
      if (found) addAnswers(answers, found.figures.answers, 1);
      const counts = countRows(rows.get(slice) ?? []);
      if (found) countOpen(counts, version, found, unclaimed(state));
      else countWhole(counts, version, planned.get(slice) ?? 0, unclaimed(state));
      return [slice, { counts, answers, open: version.isHeld ? found?.figures : undefined }];
    }),
  );
}

async function readRowAnswers(
  client: Transaction,
  run: string,
  slices: readonly SliceVersion[],
): Promise<Map<number, Answers>> {
  const bySlice = new Map(slices.map(({ slice }) => [slice, emptyAnswers()]));
  if (slices.length === 0) return bySlice;
  for (const answer of await countRowAnswers(client, run, slices)) {
    const answers = bySlice.get(answer.slice);
    if (answers) countAnswer(answers, answer);
  }
  return bySlice;
}

function countRows(rows: readonly RowCount[]): StateCounts {
  const counts = emptyCounts();
  for (const { slice: _, state, ...count } of rows) counts[state] = { ...countOf(), ...count };
  return counts;
}

/**
 * Ordinary requests of a settled slice are accepted.
 *
 * @param without state of those that no claim has
 */
function countWhole(
  counts: StateCounts,
  { first, last, kind }: SliceVersion,
  recipients: number,
  without: RequestState,
): void {
  const all = requestStates.map((state) => counts[state]);
  const sum = (of: (count: StateCount) => number): number =>
    all.reduce((total, count) => total + of(count), 0);
  addCount(counts[kind === 'settled' ? 'accepted' : without], {
    ...countOf(),
    requests: last - first + 1 - sum(({ requests }) => requests),
    recipients: recipients - sum((count) => count.recipients),
  });
}

type FoundOpen = {
  readonly figures: OpenFigures;
  readonly withRows: ReadonlySet<number>;
  readonly early: readonly EarlyReport[];
};

async function readOpen(
  client: Transaction,
  run: string,
  slices: readonly SliceVersion[],
  known: ReadonlyMap<number, { readonly figures: SliceFigures }>,
): Promise<Map<number, FoundOpen>> {
  const open = slices.filter(({ kind }) => kind === 'open');
  if (open.length === 0) return new Map();
  const ranges = open.map((each) => ({
    ...each,
    hasSizes: known.get(each.slice)?.figures.open !== undefined,
  }));
  const read = new Map((await readOpenSlices(client, run, ranges)).map((each) => [each.slice, each]));
  const early = Map.groupBy(await listEarlyReports(client, run, open), ({ slice }) => slice);
  const figuresOf = new Map(
    open.map(({ slice }) => [
      slice,
      known.get(slice)?.figures.open ?? beginOpen(read.get(slice)?.sizes ?? []),
    ]),
  );
  const versions = open.map(({ slice }) => ({ run, slice, version: figuresOf.get(slice)?.version ?? 0 }));
  for (const outcomes of await readOutcomes(client, versions, null)) {
    const figures = figuresOf.get(outcomes.slice);
    if (figures) takeOutcomes(figures, outcomes);
  }
  return new Map(
    [...figuresOf].map(([slice, figures]): [number, FoundOpen] => [
      slice,
      { figures, withRows: new Set(read.get(slice)?.withRows), early: early.get(slice) ?? [] },
    ]),
  );
}

function beginOpen(sizes: OpenSlice['sizes']): OpenFigures {
  return { sizes, version: 0, accepted: new Set(), answers: emptyAnswers() };
}

function takeOutcomes(figures: OpenFigures, outcomes: ReadOutcomes): void {
  if (outcomes.version <= figures.version) return;
  figures.version = outcomes.version;
  const recordedAt = outcomes.recordedAt.getTime();
  for (const [index, request] of outcomes.requests.entries()) {
    figures.accepted.add(request);
    const second = Math.floor((recordedAt - (outcomes.ages[index] ?? 0)) / 1000);
    const httpStatus = outcomes.statuses?.[index] ?? 200;
    const took = cutToTwoDigits(outcomes.took[index] ?? 0);
    countAnswer(figures.answers, { second, verdict: 'accepted', httpStatus, took: null, attempts: 1 });
    countAnswer(figures.answers, { second: null, verdict: 'accepted', httpStatus, took, attempts: 1 });
  }
}

/** Ordinary requests of a slice that is being sent, each by itself. */
function countOpen(
  counts: StateCounts,
  version: SliceVersion,
  { figures, withRows, early }: FoundOpen,
  without: RequestState,
): void {
  const stateOf = (request: number): RequestState => {
    if (figures.accepted.has(request)) return 'accepted';
    return request <= version.claimedTo ? 'sending' : without;
  };
  for (const [index, recipients] of figures.sizes.entries()) {
    const request = version.first + index;
    if (withRows.has(request)) continue;
    const count = counts[stateOf(request)];
    count.requests++;
    count.recipients += recipients;
  }
  for (const { request, delivered, undelivered } of early) {
    // Those of accepted requests are added up with all others; those of planned ones are of requests never sent.
    if (withRows.has(request) || stateOf(request) !== 'sending') continue;
    counts.sending.delivered += delivered;
    counts.sending.undelivered += undelivered;
  }
}
