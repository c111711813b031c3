import { batchOf } from '../batch.ts';
import type { Transaction } from '../session.ts';
import type { AttemptVerdict } from './describe-sending.ts';

/* When and how the service answered the requests of single slices, for pages that follow a run. */

export type AnsweredSlice = RequestsOfSlice & {
  readonly isHeld: boolean;
  /** All was claimed, and the answers of its ordinary requests are in one row. */
  readonly isSettled: boolean;
  readonly claimedTo: number;
  /** Changes with each change of its requests, except those of a held slice. */
  readonly content: string;
};

/** Slices that send; of a million requests, a few hundred. */
export async function listAnsweredSlices(client: Transaction, run: string): Promise<AnsweredSlice[]> {
  const { rows } = await client.query<AnsweredSlice>({
    name: 'list-answered-slices',
    text: `
      SELECT s.slice, s.first_request AS first, s.last_request AS last, s.claimed_to AS "claimedTo",
             s.state = 'held' AS "isHeld", s.claimed_to = s.last_request AND k.slice IS NOT NULL AS "isSettled",
             CAST(s.xmin AS text) AS content
      FROM slices s
      LEFT JOIN slice_outcomes k USING (run_id, slice)
      WHERE s.run_id = $1 AND s.phase = 'sending' AND s.claimed_to >= s.first_request
    `,
    values: [run],
  });
  return rows;
}

export type RequestsOfSlice = { readonly slice: number; readonly first: number; readonly last: number };

const requestsOfSlices = batchOf<RequestsOfSlice>({
  slice: ['integer', ({ slice }) => slice],
  first: ['integer', ({ first }) => first],
  last: ['integer', ({ last }) => last],
});

/** Attempts that ended in the same second with the same result, or (without a second) took as long. */
export type AnswerCount = {
  readonly slice: number;
  /** Since 1970; null: the count is one of durations. */
  readonly second: number | null;
  readonly verdict: AttemptVerdict;
  readonly httpStatus: number | null;
  /** Milliseconds, cut to two digits: 1,234 is 1,200. */
  readonly took: number | null;
  readonly attempts: number;
};

/** SQL: milliseconds cut to their first two digits. Most answers take less than a second, and a million are counted. */
const twoDigits = (took: string): string =>
  `CASE WHEN ${took} < 100 THEN ${took}
        WHEN ${took} < 1000 THEN ${took} - ${took} % 10
        ELSE ${took} - mod(${took}, CAST(power(10, length(CAST(${took} AS text)) - 2) AS integer)) END`;

/** SQL: counts of the answers of slice `d`. Each slice is counted by itself, which takes half the time. */
const countsOf = (answers: string): string => `
  CROSS JOIN LATERAL (
    SELECT second, verdict, http_status AS "httpStatus", took, count(*)::integer AS attempts
    FROM (${answers}) answer
    GROUP BY GROUPING SETS ((second, verdict, http_status), (took))
    HAVING grouping(second) = 0 OR took IS NOT NULL
  ) c`;

/** Counts answers to ordinary requests in settled slices. */
export async function countSettledAnswers(
  client: Transaction,
  run: string,
  slices: readonly RequestsOfSlice[],
): Promise<AnswerCount[]> {
  if (slices.length === 0) return [];
  const { rows } = await client.query<AnswerCount>({
    name: 'count-settled-answers',
    text: `
      SELECT d.slice, c.*
      FROM ${requestsOfSlices.table('d', 2)}
      CROSS JOIN LATERAL (
        SELECT CAST(extract(epoch FROM base_at) * 1000 AS float8) AS base_ms, finished_ms, took_ms, statuses
        FROM slice_outcomes
        WHERE run_id = $1 AND slice = d.slice
        -- Otherwise the base is computed again for each answer.
        OFFSET 0
      ) k
      ${countsOf(`
        SELECT floor((k.base_ms + finished_ms) / 1000) AS second, 'accepted' AS verdict,
               coalesce(status, 200) AS http_status, ${twoDigits('took_ms')} AS took
        FROM unnest(k.finished_ms, k.took_ms, k.statuses) AS n (finished_ms, took_ms, status)
        WHERE took_ms IS NOT NULL
      `)}
    `,
    values: [run, ...requestsOfSlices.values(slices)],
  });
  return rows;
}

/** Counts answers to requests that have rows. */
export async function countRowAnswers(
  client: Transaction,
  run: string,
  slices: readonly RequestsOfSlice[],
): Promise<AnswerCount[]> {
  const { rows } = await client.query<AnswerCount>({
    name: 'count-row-answers',
    text: `
      SELECT d.slice, c.*
      FROM ${requestsOfSlices.table('d', 2)}
      ${countsOf(`
        SELECT CAST(floor(extract(epoch FROM coalesce(finished_at, started_at))) AS float8) AS second, verdict,
               http_status, ${twoDigits('a.took')} AS took
        FROM (
          SELECT *, CASE WHEN http_status IS NOT NULL
                         THEN CAST(round(extract(epoch FROM finished_at - started_at) * 1000) AS integer) END AS took
          FROM attempts
          WHERE run_id = $1 AND request BETWEEN d.first AND d.last AND verdict IS NOT NULL
          OFFSET 0
        ) a
      `)}
    `,
    values: [run, ...requestsOfSlices.values(slices)],
  });
  return rows;
}

/** A change of a slice whose answers are known. */
type SliceVersion = { readonly slice: number; readonly version: number };

const sliceVersions = batchOf<SliceVersion>({
  slice: ['integer', ({ slice }) => slice],
  version: ['integer', ({ version }) => version],
});

/**
 * Counts answers to ordinary requests in slices that are not settled, recorded after the known changes. `version` is
 * the last one.
 */
export async function countRecordedAnswers(
  client: Transaction,
  run: string,
  slices: readonly SliceVersion[],
): Promise<(AnswerCount & SliceVersion)[]> {
  if (slices.length === 0) return [];
  const { rows } = await client.query<AnswerCount & SliceVersion>({
    name: 'count-recorded-answers',
    text: `
      SELECT d.slice, (SELECT max(version) FROM outcomes o WHERE o.run_id = $1 AND o.slice = d.slice) AS version, c.*
      FROM ${sliceVersions.table('d', 2)}
      ${countsOf(`
        SELECT CAST(floor(extract(epoch FROM recorded_at) - age_ms / 1000.0) AS float8) AS second,
               'accepted' AS verdict, coalesce(status, 200) AS http_status, ${twoDigits('took_ms')} AS took
        FROM (
          SELECT o.recorded_at, n.*
          FROM outcomes o
          CROSS JOIN LATERAL unnest(o.ages_ms, o.took_ms, o.statuses) AS n (age_ms, took_ms, status)
          WHERE o.run_id = $1 AND o.slice = d.slice AND o.version > d.version
          OFFSET 0
        ) n
      `)}
    `,
    values: [run, ...sliceVersions.values(slices)],
  });
  return rows;
}
