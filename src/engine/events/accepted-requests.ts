import type { AcceptedRequests } from '../../ledger/events/event.ts';
import type { ReadOutcomes, ReadSliceOutcomes, TouchedSlice } from '../../ledger/events/read-slices.ts';

/** What a follower knows of a slice. */
export type KnownSlice = {
  content: string;
  /** The last change whose outcomes were read. */
  version: number;
  /** Requests whose outcomes were read; undefined once the slice was done. */
  accepted: Set<number> | undefined;
};

export type KnownSlices = Map<string, KnownSlice>;

export function sliceKey({ run, slice }: Pick<TouchedSlice, 'run' | 'slice'>): string {
  return `${run}/${slice}`;
}

type AcceptedEvent = AcceptedRequests & { readonly at: Date };

type Answer = {
  readonly request: number;
  readonly finishedAt: number;
  readonly took: number;
  readonly status: number;
  readonly jobNumber: string | null;
};

/** Adds the outcomes to what is known, and returns those that are new. */
export function takeOutcomes(known: KnownSlices, outcomes: readonly ReadOutcomes[]): AcceptedEvent[] {
  return outcomes.flatMap((read) => {
    const slice = known.get(sliceKey(read));
    if (!slice || read.version <= slice.version) return [];
    slice.version = read.version;
    for (const request of read.requests) slice.accepted?.add(request);
    if (!read.isRecent) return [];
    const answers = read.requests.map(
      (request, index): Answer => ({
        request,
        finishedAt: read.recordedAt.getTime() - (read.ages[index] ?? 0),
        took: read.took[index] ?? 0,
        status: read.statuses?.[index] ?? 200,
        jobNumber: read.jobNumbers?.[index] ?? null,
      }),
    );
    return toEvents(read.run, answers);
  });
}

/**
 * A done slice has its outcomes in one row: those of its last changes may have been in no other when the follower
 * looked.
 */
export function takeDoneSlices(
  known: KnownSlices,
  done: readonly (ReadSliceOutcomes & Pick<TouchedSlice, 'first'>)[],
): AcceptedEvent[] {
  return done.flatMap((read) => {
    const slice = known.get(sliceKey(read));
    const shown = slice?.accepted;
    if (!slice || !shown) return [];
    slice.accepted = undefined;
    const answers = read.took.flatMap((took, index): Answer[] => {
      const request = read.first + index;
      if (took === null || shown.has(request)) return [];
      const finishedAt = read.baseAt.getTime() + Number(read.finished[index]);
      const [status, jobNumber] = [read.statuses?.[index] ?? 200, read.jobNumbers?.[index] ?? null];
      return [{ request, finishedAt, took, status, jobNumber }];
    });
    return toEvents(read.run, answers);
  });
}

function toEvents(run: string, answers: readonly Answer[]): AcceptedEvent[] {
  if (answers.length === 0) return [];
  const took = answers.map((answer) => answer.took);
  return [
    {
      kind: 'accepted',
      run,
      at: new Date(Math.max(...answers.map(({ finishedAt }) => finishedAt))),
      requests: answers.map(({ request }) => request).toSorted((one, other) => one - other),
      httpStatuses: [...new Set(answers.map(({ status }) => status))],
      took: [Math.min(...took), Math.max(...took)],
      jobNumbers: answers.flatMap(({ jobNumber }) => jobNumber ?? []),
    },
  ];
}
