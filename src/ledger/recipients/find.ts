import type { DeliveryOutcome } from '../../domain/delivery-reports.ts';
import type { Channel } from '../../domain/message.ts';
import type { RequestState, RunKind } from '../../domain/runs.ts';
import { comparedAddress } from '../compared-address.ts';
import { reasonOf } from '../reasons.ts';
import { contactFileOf, outcomeOf, recipientsOf, requestOf } from '../request-rows.ts';
import { findRequestsByMessageId, type RequestKey } from '../requests/by-message-id.ts';
import type { ReadConnection } from '../session.ts';

/** SQL: the reason of recipient `o` of request `q`, as in the view recipient_states. */
const recipientReason = `
  CASE WHEN o.outcome IS NULL THEN q.reason
       WHEN o.outcome = 'cancelled' THEN ${reasonOf('suppressed')}
       ELSE to_jsonb(o.result) END`;

/** A recipient of a run, and its request. */
export type FoundRecipient = {
  readonly run: string;
  readonly campaign: string;
  readonly account: string;
  readonly kind: RunKind;
  readonly channel: Channel;
  /** Address and texts are erased since then. */
  readonly purgedAt: Date | null;
  /** Empty if the run was purged. */
  readonly address: string;
  readonly originalAddress: string;
  readonly file: string;
  readonly line: number;
  readonly subAccount: string | null;
  readonly department: string | null;
  readonly chargeCode: string | null;
  /** Number of its request in the run. */
  readonly request: number;
  readonly messageId: string;
  /** As stored. */
  readonly reason: unknown;
  /** Decimal text. */
  readonly units: string | null;
  /** Decimal text. */
  readonly price: string | null;
  readonly position: number;
  readonly requestState: RequestState;
  readonly outcome: DeliveryOutcome | 'cancelled' | null;
};

/** The address is normalised. */
export type RecipientQuery = {
  readonly kind: 'messageId' | 'jobNumber' | 'address';
  readonly value: string;
  /** Of the runs; null: all. */
  readonly accounts?: readonly string[] | null;
};

/** Which part of an ordered result is read. */
export type HistoryRange = { readonly skip?: number; readonly limit: number };

/**
 * Addresses have no index: only operators search by them, and an index would slow down each import. Of a million
 * phone numbers, the blocks with one are found in 40 ms; each number would take a second.
 */
export async function findRecipients(
  client: ReadConnection,
  { kind, value, accounts = null }: RecipientQuery,
  { skip = 0, limit }: HistoryRange,
): Promise<FoundRecipient[]> {
  const named = kind === 'address' ? undefined : await findRequests(client, kind, value);
  const { rows } = await client.query<FoundRecipient>(
    `
    SELECT run.run_id AS run, run.campaign, run.account, run.kind, run.channel, run.purged_at AS "purgedAt", coalesce(r.address, '') AS address,
           coalesce(r.original_address, r.address, '') AS "originalAddress",
           coalesce(f.name, '') AS file, r.line - coalesce(f.lines_before, 0) AS line,
           e.sub_account AS "subAccount", e.department, e.charge_code AS "chargeCode", q.message_id AS "messageId",
           q.request, r.position, q.state AS "requestState", o.outcome,
           ${recipientReason} AS reason,
           o.units::text AS units, o.price::text AS price
    FROM ${named ? namedRecipients : recipientsWithAddress(value)} r
    JOIN runs run ON run.run_id = r.run_id AND ($3::text[] IS NULL OR run.account = ANY ($3))
    CROSS JOIN ${requestOf('r.run_id', 'r.request')} q
    JOIN envelopes e ON e.run_id = q.run_id AND e.envelope = q.envelope
    LEFT JOIN ${outcomeOf('q.run_id', 'q.request', 'r.position')} o ON true
    LEFT JOIN ${contactFileOf('run.run_id', 'r.line')} f ON true
    ORDER BY run.created_at DESC, run.run_id, q.request, r.position
    LIMIT $2 OFFSET $4
    `,
    [named ? JSON.stringify(named) : value, limit, accounts, skip],
  );
  return rows;
}

const namedRecipients = `(
  SELECT r.*
  FROM jsonb_to_recordset($1::jsonb) AS named (run text, request integer, positions integer[])
  CROSS JOIN ${recipientsOf('named.run', 'named.request')} r
  WHERE named.positions IS NULL OR r.position = ANY (named.positions)
)`;

/**
 * SQL: recipients with the address $1. A phone number is stored as it is compared; the part of an e-mail address before
 * the @ can have capitals.
 */
export function recipientsWithAddress(address: string): string {
  return `(
  SELECT r.*
  FROM (
    SELECT run_id, first_request, last_request
    FROM contents
    WHERE ${
      address.includes('@')
        ? `position(${comparedAddress('$1::text')} IN ${comparedAddress(`array_to_string(addresses, ' ')`)}) > 0`
        : '$1::text = ANY (addresses)'
    }
    OFFSET 0
  ) block
  CROSS JOIN LATERAL recipients_between(block.run_id, block.first_request, block.last_request) r
  WHERE ${comparedAddress('r.address')} = ${comparedAddress('$1::text')}
  OFFSET 0
)`;
}

type RequestRecipients = RequestKey & {
  /** Null: all recipients of the request. */
  readonly positions: readonly number[] | null;
};

async function findRequests(
  client: ReadConnection,
  kind: Exclude<RecipientQuery['kind'], 'address'>,
  value: string,
): Promise<RequestRecipients[]> {
  if (kind === 'jobNumber') return findByJobNumber(client, value);
  const named = await findRequestsByMessageId(client, [value]);
  return [...named.values()].map((request) => ({ ...request, positions: null }));
}

/** Reads without an index: delivery reports have none by job number, because only operators search by it. */
async function findByJobNumber(client: ReadConnection, jobNumber: string): Promise<RequestRecipients[]> {
  const { rows } = await client.query<RequestRecipients>(
    `
    SELECT run_id AS run, request, CASE WHEN bool_and(position IS NOT NULL) THEN array_agg(position) END AS positions
    FROM (
      SELECT run_id, request, CAST(NULL AS integer) AS position FROM job_numbers WHERE job_number = upper($1)
      UNION
      SELECT run_id, request, position
      FROM delivery_reports
      WHERE upper(job_number) = upper($1) AND position IS NOT NULL
    ) known
    GROUP BY run_id, request
    `,
    [jobNumber],
  );
  return rows;
}
