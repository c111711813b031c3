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
  readonly plannedAt: Date;
  /** Address and texts are erased since then. */
  readonly purgedAt: Date | null;
  /** Empty if the run was purged. */
  readonly address: string;
  readonly originalAddress: string;
  readonly file: string;
  readonly line: number;
  /** Its line, counted from file to file: it names the recipient in its run. */
  readonly row: number;
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

/** A recipient by its row. */
export type RecipientKey = { readonly run: string; readonly row: number };

export type RecipientQuery = (
  | {
      readonly kind: 'messageId' | 'jobNumber' | 'chargeCode' | 'address';
      /** An address is normalised. */
      readonly value: string;
    }
  | { readonly kind: 'row'; readonly rows: readonly RecipientKey[] }
) & {
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
  query: RecipientQuery,
  { skip = 0, limit }: HistoryRange,
): Promise<FoundRecipient[]> {
  const address = query.kind === 'address' ? query.value : undefined;
  const { accounts = null } = query;
  const { rows } = await client.query<FoundRecipient>(
    `
    SELECT run.run_id AS run, run.campaign, run.account, run.kind, run.channel, run.created_at AS "plannedAt", run.purged_at AS "purgedAt", coalesce(r.address, '') AS address,
           coalesce(r.original_address, r.address, '') AS "originalAddress",
           coalesce(f.name, '') AS file, r.line - coalesce(f.lines_before, 0) AS line,
           r.line AS row, e.sub_account AS "subAccount", e.department, e.charge_code AS "chargeCode", q.message_id AS "messageId",
           q.request, r.position, q.state AS "requestState", o.outcome,
           ${recipientReason} AS reason,
           o.units::text AS units, o.price::text AS price
    FROM ${address === undefined ? namedRecipients : recipientsWithAddress(address)} r
    JOIN runs run ON run.run_id = r.run_id AND ($3::text[] IS NULL OR run.account = ANY ($3))
    CROSS JOIN ${requestOf('r.run_id', 'r.request')} q
    JOIN envelopes e ON e.run_id = q.run_id AND e.envelope = q.envelope
    LEFT JOIN ${outcomeOf('q.run_id', 'q.request', 'r.position')} o ON true
    LEFT JOIN ${contactFileOf('run.run_id', 'r.line')} f ON true
    ORDER BY run.created_at DESC, run.run_id, q.request, r.position
    LIMIT $2 OFFSET $4
    `,
    [address ?? JSON.stringify(await findRequests(client, query, skip + limit)), limit, accounts, skip],
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

/** @param limit of the recipients that are wanted */
async function findRequests(
  client: ReadConnection,
  query: RecipientQuery,
  limit: number,
): Promise<RequestRecipients[]> {
  switch (query.kind) {
    case 'row':
      return findByRow(client, query.rows);
    case 'jobNumber':
      return findByJobNumber(client, query.value);
    case 'chargeCode':
      return findByChargeCode(client, query, limit);
    default: {
      const named = await findRequestsByMessageId(client, [query.value]);
      return [...named.values()].map((request) => ({ ...request, positions: null }));
    }
  }
}

/** Reads the blocks of each run once: they have no index by line. */
async function findByRow(
  client: ReadConnection,
  rows: readonly RecipientKey[],
): Promise<RequestRecipients[]> {
  const found = await client.query<RequestRecipients>(
    `
    SELECT r.run_id AS run, r.request, ARRAY[r.position] AS positions
    FROM (
      SELECT run, array_agg("row") AS rows
      FROM jsonb_to_recordset($1::jsonb) AS named (run text, "row" integer)
      GROUP BY run
    ) wanted
    CROSS JOIN LATERAL (SELECT * FROM contents WHERE run_id = wanted.run AND lines && wanted.rows OFFSET 0) c
    CROSS JOIN LATERAL recipients_between(c.run_id, c.first_request, c.last_request) r
    WHERE r.line = ANY (wanted.rows)
    `,
    [JSON.stringify(rows)],
  );
  return found.rows;
}

/** Of each run in which the ChargeCode is booked, the first requests; requests have the order of their envelopes. */
async function findByChargeCode(
  client: ReadConnection,
  { value, accounts }: { readonly value: string } & Pick<RecipientQuery, 'accounts'>,
  limit: number,
): Promise<RequestRecipients[]> {
  const { rows } = await client.query<RequestRecipients>(
    `
    SELECT q.run_id AS run, q.request, NULL AS positions
    FROM runs r
    CROSS JOIN LATERAL (
      SELECT FROM run_costs c WHERE c.run_id = r.run_id AND c.by = 'ChargeCode' AND c.value = $1 LIMIT 1
    ) booked
    CROSS JOIN LATERAL (
      SELECT array_agg(envelope) AS numbers
      FROM (SELECT envelope FROM envelopes WHERE run_id = r.run_id AND charge_code = $1 ORDER BY envelope LIMIT $2) first
    ) e
    CROSS JOIN LATERAL (
      SELECT c.run_id, c.first_request + n.place - 1 AS request
      FROM contents c, unnest(c.envelopes) WITH ORDINALITY AS n (envelope, place)
      WHERE c.run_id = r.run_id AND c.envelopes && e.numbers AND n.envelope = ANY (e.numbers)
      ORDER BY c.first_request, n.place
      LIMIT $2
    ) q
    WHERE $3::text[] IS NULL OR r.account = ANY ($3)
    ORDER BY r.created_at DESC, q.request
    LIMIT $2
    `,
    [value, limit, accounts ?? null],
  );
  return rows;
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
