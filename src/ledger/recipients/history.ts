import type pg from 'pg';
import type { DeliveryOutcome } from '../../domain/delivery-reports.ts';
import type { Channel } from '../../domain/message.ts';
import type { RequestReason } from '../../domain/reasons.ts';
import type { RecipientState, RequestState, Resolution, RunKind } from '../../domain/runs.ts';
import { comparedAddress } from '../compared-address.ts';
import { deliveryReportColumns, type ListedDeliveryReport } from '../delivery-reports/list.ts';
import { recipientKeys } from '../delivery-reports/matched-recipient.ts';
import { reasonOf, requestReason, type Stored } from '../reasons.ts';
import { attemptsOf, contactFileOf, recipientsOf, requestOf } from '../request-rows.ts';
import { findRequestsByMessageId, type RequestKey, requestKeys } from '../requests/by-message-id.ts';
import { recipientStateOf } from '../runs/recipient-state.ts';

/** All that the ledger knows of a recipient. */
export type RecipientHistory = {
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
  readonly state: RecipientState;
  readonly reason: RequestReason | null;
  /** Decimal text. */
  readonly units: string | null;
  /** Decimal text. */
  readonly price: string | null;
  readonly attempts: readonly HistoryAttempt[];
  readonly resolutions: readonly HistoryResolution[];
  readonly reports: readonly ListedDeliveryReport[];
};

export type HistoryAttempt = {
  readonly attempt: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly verdict: string | null;
  readonly httpStatus: number | null;
  readonly detail: RequestReason | null;
};

export type HistoryResolution = {
  readonly resolvedAt: Date;
  readonly resolution: Resolution;
  readonly by: string;
  readonly reason: string;
};

/** SQL: the reason of recipient `o` of request `q`, as in the view recipient_states. */
const recipientReason = `
  CASE WHEN o.outcome IS NULL THEN q.reason
       WHEN o.outcome = 'cancelled' THEN ${reasonOf('suppressed')}
       ELSE to_jsonb(o.result) END`;

type DbRecipient = Stored<Omit<RecipientHistory, 'state' | 'attempts' | 'resolutions' | 'reports'>> & {
  readonly position: number;
  readonly requestState: RequestState;
  readonly outcome: DeliveryOutcome | 'cancelled' | null;
};

/** An address is normalised. */
export type RecipientQuery = {
  readonly kind: 'messageId' | 'jobNumber' | 'address';
  readonly value: string;
  /** Of the runs; null: all. */
  readonly accounts?: readonly string[] | null;
};

/** Recipients of a result, which is ordered. */
export type HistoryRange = { readonly skip?: number; readonly limit: number };

/** By MessageID, job number (of an answer or a delivery report) or address; newest run first. */
export async function findRecipientHistories(
  pool: pg.Pool,
  wanted: RecipientQuery,
  range: HistoryRange,
): Promise<RecipientHistory[]> {
  const recipients = await findRecipients(pool, wanted, range);
  const keys = requestKeys.values(recipients);
  const { rows: attempts } = await pool.query<Stored<HistoryAttempt, 'detail'> & RequestKey>(
    `
    SELECT a.run_id AS run, a.request, attempt, started_at AS "startedAt", finished_at AS "finishedAt", verdict,
           http_status AS "httpStatus", detail
    FROM (SELECT DISTINCT * FROM ${requestKeys.table('key')}) AS wanted
    CROSS JOIN ${attemptsOf('wanted.run_id', 'wanted.request')} a
    ORDER BY attempt
    `,
    keys,
  );
  const { rows: resolutions } = await pool.query<HistoryResolution & RequestKey>(
    `
    SELECT run_id AS run, request, resolved_at AS "resolvedAt", resolution, resolved_by AS by, reason
    FROM resolutions
    WHERE (run_id, request) IN (SELECT * FROM ${requestKeys.table('wanted')})
    ORDER BY resolved_at
    `,
    keys,
  );
  const { rows: reports } = await pool.query<
    ListedDeliveryReport & { readonly request: number; readonly position: number }
  >(
    `
    SELECT ${deliveryReportColumns}, k.request, k.position
    FROM (SELECT DISTINCT * FROM ${recipientKeys.table('key')}) AS wanted
    -- Looks up each. With IN, a run of a million takes a minute: the view adds the address to each of its reports.
    CROSS JOIN LATERAL (
      SELECT *
      FROM delivery_reports r
      WHERE r.run_id = wanted.run_id AND r.request = wanted.request AND r.position = wanted.position
      OFFSET 0
    ) k
    ORDER BY k.report_id
    `,
    recipientKeys.values(recipients),
  );
  return recipients.map(({ position, requestState, outcome, reason, ...recipient }) => {
    const { run, request } = recipient;
    const ofRequest = (one: RequestKey): boolean => one.run === run && one.request === request;
    return {
      ...recipient,
      reason: requestReason(reason),
      state: outcome ?? recipientStateOf[requestState],
      attempts: attempts.filter(ofRequest).map(({ run, request, detail, ...attempt }) => {
        return { ...attempt, detail: requestReason(detail) };
      }),
      resolutions: resolutions.filter(ofRequest).map(({ run, request, ...resolution }) => resolution),
      reports: reports
        .filter((report) => report.run === run && report.request === request && report.position === position)
        .map(({ request, position, ...report }) => report),
    };
  });
}

/**
 * Addresses have no index: only operators search by them, and an index would slow down each import. Of a million
 * phone numbers, the blocks with one are found in 40 ms; each number would take a second.
 */
async function findRecipients(
  pool: pg.Pool,
  { kind, value, accounts = null }: RecipientQuery,
  { skip = 0, limit }: HistoryRange,
): Promise<DbRecipient[]> {
  const named = kind === 'address' ? undefined : await findRequests(pool, kind, value);
  const { rows } = await pool.query<DbRecipient>(
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
    LEFT JOIN recipient_outcomes o
      ON o.run_id = q.run_id AND o.request = q.request AND o.position = r.position
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

/** A phone number is stored as it is compared; the part of an e-mail address before the @ can have capitals. */
const recipientsWithAddress = (address: string): string => `(
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

type RequestRecipients = RequestKey & {
  /** Null: all recipients of the request. */
  readonly positions: readonly number[] | null;
};

async function findRequests(
  pool: pg.Pool,
  kind: Exclude<RecipientQuery['kind'], 'address'>,
  value: string,
): Promise<RequestRecipients[]> {
  if (kind === 'jobNumber') return findByJobNumber(pool, value);
  const named = await findRequestsByMessageId(pool, [value]);
  return [...named.values()].map((request) => ({ ...request, positions: null }));
}

/** Delivery reports have no index by job number: only operators search by it. */
async function findByJobNumber(pool: pg.Pool, jobNumber: string): Promise<RequestRecipients[]> {
  const { rows } = await pool.query<RequestRecipients>(
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
