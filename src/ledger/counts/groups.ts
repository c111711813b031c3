import type { RejectionReason } from '../../domain/contacts.ts';
import type { DeliveryOutcome } from '../../domain/delivery-reports.ts';
import type { OtherWords, RequestReason } from '../../domain/reasons.ts';
import { type FailedState, failedStates } from '../../domain/runs.ts';
import { requestReason, type Stored } from '../reasons.ts';
import type { ReadConnection } from '../session.ts';

/** Requests that were not accepted, with the same state and reason. */
export type FailureGroup = {
  /** Names the group in a link; empty for `OtherWords`. */
  readonly group: string;
  readonly state: FailedState;
  /** The service's own words, or what happened instead of an answer. */
  readonly reason: RequestReason | OtherWords | null;
  readonly requests: number;
  /** Without suppressed recipients. */
  readonly recipients: number;
};

const otherWords: OtherWords = { kind: 'other_words' };

type FailureQuery = {
  readonly states?: readonly FailedState[];
  /** Undefined: all that have kept their words, and the others together. */
  readonly limit?: number;
};

/** Lists the largest first. */
export async function listFailureGroups(
  client: ReadConnection,
  run: string,
  { states = failedStates, limit }: FailureQuery = {},
): Promise<FailureGroup[]> {
  // Not prepared: a plan made for small tables would scan large ones.
  const { rows } = await client.query<Stored<FailureGroup>>(
    `
    SELECT *
    FROM (
      SELECT group_id AS "group", state, words AS reason, sum(requests)::integer AS requests,
             sum(recipients)::integer AS recipients
      FROM (
        SELECT group_id, CASE counted WHEN 'divided' THEN 'rejected' ELSE counted END AS state, words, requests, recipients
        FROM run_counts
        WHERE run_id = $1 AND counted IN ('rejected', 'divided', 'failed', 'in_doubt', 'abandoned')
      ) failed
      WHERE state = ANY ($2::text[])
      GROUP BY group_id, state, words
      HAVING sum(requests) > 0
      ORDER BY sum(requests) DESC, group_id
      LIMIT $3
    ) largest
    ORDER BY requests DESC, state, reason
    `,
    [run, states, limit ?? null],
  );
  return rows.map((row) => ({ ...row, reason: row.group === '' ? otherWords : requestReason(row.reason) }));
}

/** Recipients with the same outcome and result. */
export type DeliveryResult = {
  readonly outcome: DeliveryOutcome;
  /** In the service's own words. */
  readonly result: string | OtherWords | null;
  /** As `FailureGroup.group`. */
  readonly group: string;
  readonly recipients: number;
};

/** Lists the largest first. */
export async function listDeliveryResults(
  client: ReadConnection,
  run: string,
  limit?: number,
): Promise<DeliveryResult[]> {
  const { rows } = await client.query<DeliveryResult & { readonly result: string | null }>(
    `
    SELECT *
    FROM (
      SELECT counted AS outcome, words #>> '{}' AS result, group_id AS "group", sum(recipients)::integer AS recipients
      FROM run_counts
      WHERE run_id = $1 AND counted IN ('delivered', 'undelivered')
      GROUP BY counted, words, group_id
      HAVING sum(recipients) > 0
      ORDER BY sum(recipients) DESC, group_id
      LIMIT $2
    ) largest
    ORDER BY recipients DESC, outcome, result
    `,
    [run, limit ?? null],
  );
  return rows.map((row) => (row.group === '' ? { ...row, result: otherWords } : row));
}

/** Recipients that were suppressed after planning (`RunCounts.suppressed`). */
export type SuppressedRecipients = { readonly reason: RequestReason; readonly recipients: number };

export type RejectionGroup = {
  readonly reason: RejectionReason;
  readonly column: string;
  readonly contacts: number;
};

/** Lists the largest first. */
export async function listRejections(client: ReadConnection, run: string): Promise<RejectionGroup[]> {
  const { rows } = await client.query<RejectionGroup>(
    `
    SELECT reason, column_name AS "column", contacts
    FROM left_out_counts
    WHERE run_id = $1
    ORDER BY contacts DESC, reason, column_name
    `,
    [run],
  );
  return rows;
}
