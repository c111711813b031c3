import { batchOf } from '../batch.ts';
import type { Transaction } from '../session.ts';
import { isRecent } from './read-rows.ts';

type SliceKey = { readonly run: string; readonly slice: number };

/** A slice that was changed, or may be. */
export type TouchedSlice = SliceKey & {
  readonly first: number;
  readonly last: number;
  readonly isHeld: boolean;
  readonly isDone: boolean;
  /** Changes with most changes of its requests; those of a held slice can change without it. */
  readonly content: string;
};

const columns = `
  s.run_id AS run, s.slice, s.first_request AS first, s.last_request AS last, s.state = 'held' AS "isHeld",
  s.state = 'done' AS "isDone",
  CAST(s.xmin AS text) AS content`;

/**
 * Lists held slices, and those changed by a transaction since `oldest`: of a large run, few of its thousands of
 * slices.
 */
export async function listTouchedSlices(
  client: Transaction,
  runs: readonly string[],
  oldest: string,
): Promise<TouchedSlice[]> {
  const { rows } = await client.query<TouchedSlice>(
    `
    SELECT ${columns}
    FROM slices s
    WHERE s.run_id = ANY ($1) AND s.phase = 'sending' AND (s.state = 'held' OR ${isRecent('s', '$2')})
    ORDER BY s.run_id, s.slice
    `,
    [runs, oldest],
  );
  return rows;
}

/** Lists slices in which a follower begins: unfinished ones, those claimed since a time, and the ones claimed last. */
export async function listFirstSlices(
  client: Transaction,
  runs: readonly string[],
  since: Date | null,
): Promise<TouchedSlice[]> {
  const { rows } = await client.query<TouchedSlice>(
    `
    SELECT ${columns}
    FROM slices s
    WHERE s.run_id = ANY ($1) AND s.phase = 'sending' AND s.claimed_to >= s.first_request
      AND (s.state <> 'done' OR s.claimed_at >= $2
           OR (s.run_id, s.slice) IN (
             SELECT n.run_id, n.slice
             FROM slices n
             WHERE n.run_id = ANY ($1) AND n.claimed_at IS NOT NULL
             ORDER BY n.claimed_at DESC
             LIMIT ${lastSlices}
           ))
    ORDER BY s.run_id, s.slice
    `,
    [runs, since],
  );
  return rows;
}

const lastSlices = 5;

type KnownSlice = SliceKey & {
  /** The last change whose outcomes are known. */
  readonly version: number;
};

const knownSlices = batchOf<KnownSlice>({
  run_id: ['text', ({ run }) => run],
  slice: ['integer', ({ slice }) => slice],
  version: ['integer', ({ version }) => version],
});

/** Accepted requests of one change, in arrays. */
export type ReadOutcomes = {
  readonly run: string;
  readonly slice: number;
  readonly version: number;
  readonly recordedAt: Date;
  readonly requests: readonly number[];
  readonly ages: readonly number[];
  readonly took: readonly number[];
  readonly statuses: readonly number[] | null;
  readonly jobNumbers: readonly (string | null)[] | null;
  readonly isRecent: boolean;
};

/**
 * Outcomes after the known version. The changes of a slice lock its row and count up, so a slice's versions become
 * visible in their order.
 */
export async function readOutcomes(
  client: Transaction,
  known: readonly KnownSlice[],
  oldest: string | null,
): Promise<ReadOutcomes[]> {
  const { rows } = await client.query<ReadOutcomes>({
    name: 'read-outcomes',
    text: `
    SELECT o.run_id AS run, o.slice, o.version, o.recorded_at AS "recordedAt", o.requests, o.ages_ms AS ages,
           o.took_ms AS took, o.statuses, o.job_numbers AS "jobNumbers", ${isRecent('o', '$1')} AS "isRecent"
    FROM ${knownSlices.table('k', 2)}
    JOIN outcomes o ON o.run_id = k.run_id AND o.slice = k.slice AND o.version > k.version
    ORDER BY o.run_id, o.slice, o.version
    `,
    values: [oldest, ...knownSlices.values(known)],
  });
  return rows;
}

/** All outcomes of a done slice: an element for each request, null where none was recorded. */
export type ReadSliceOutcomes = {
  readonly run: string;
  readonly slice: number;
  readonly baseAt: Date;
  /** Texts: the driver does not read bigint as a number. */
  readonly finished: readonly (string | null)[];
  readonly took: readonly (number | null)[];
  readonly statuses: readonly (number | null)[] | null;
  readonly jobNumbers: readonly (string | null)[] | null;
};

const doneSlices = batchOf<SliceKey>({
  run_id: ['text', ({ run }) => run],
  slice: ['integer', ({ slice }) => slice],
});

/** Reads the outcomes of slices that became done since `oldest`. They were moved into one row then. */
export async function readSliceOutcomes(
  client: Transaction,
  slices: readonly SliceKey[],
  oldest: string | null,
): Promise<ReadSliceOutcomes[]> {
  const { rows } = await client.query<ReadSliceOutcomes>(
    `
    SELECT k.run_id AS run, k.slice, k.base_at AS "baseAt", k.finished_ms AS finished, k.took_ms AS took, k.statuses,
           k.job_numbers AS "jobNumbers"
    FROM ${doneSlices.table('d', 2)}
    JOIN slice_outcomes k ON k.run_id = d.run_id AND k.slice = d.slice
    WHERE k.base_at IS NOT NULL AND ${isRecent('k', '$1')}
    `,
    [oldest, ...doneSlices.values(slices)],
  );
  return rows;
}
