import type { RejectionReason } from '../../domain/contacts.ts';
import type { DeliveryOutcome } from '../../domain/delivery-reports.ts';
import type { RequestReason } from '../../domain/reasons.ts';
import type { RejectionDetail } from '../../domain/rejected-contacts.ts';
import type { RecipientState, RequestState } from '../../domain/runs.ts';
import { recipientStateOf } from '../counts/run-counts.ts';
import { streamRows } from '../cursor.ts';
import { rejectionDetail, requestReason, type Stored } from '../reasons.ts';
import type { Snapshot } from '../session.ts';
import { rejectionDetailOfRow } from './rejected-contacts.ts';

/** What became of a contact. Line numbers continue from file to file. */
export type ContactResult = {
  readonly line: number;
  readonly state: RecipientState | RejectionReason;
  /** The column that caused the rejection. */
  readonly column: string | null;
  readonly reason: RequestReason | RejectionDetail | null;
  readonly address: string | null;
  /** The number of its variant. */
  readonly variant: number | null;
  readonly messageId: string | null;
  /** As reported: SMS parts, pages, seconds or e-mails; before a report, the counted SMS parts. Decimal text. */
  readonly units: string | null;
  /** As reported; decimal text. */
  readonly price: string | null;
};

type DbResultRow = Stored<Omit<ContactResult, 'state'>> & {
  readonly rejection: RejectionReason | null;
  readonly requestState: RequestState;
  readonly outcome: DeliveryOutcome | 'cancelled' | null;
};

const batchSize = 5_000;

export async function* streamContactResults(
  client: Snapshot,
  run: string,
  hasVariants = false,
): AsyncGenerator<readonly ContactResult[], void, undefined> {
  const variant = hasVariants
    ? '(SELECT variant FROM envelopes e WHERE e.run_id = $1 AND e.envelope = s.envelope)'
    : 'NULL';
  const sql = `
    SELECT line, NULL AS "column", reason, address, ${variant} AS variant,
           CASE WHEN outcome = 'cancelled' THEN NULL ELSE message_id END AS "messageId",
           CASE WHEN outcome = 'cancelled' THEN NULL ELSE coalesce(units, parts)::text END AS units,
           price::text AS price, NULL AS rejection, request_state AS "requestState", outcome
    FROM recipient_states s
    WHERE run_id = $1
    UNION ALL
    SELECT line, column_name, ${rejectionDetailOfRow('x', '$1')}, NULL, NULL, NULL, NULL, NULL, reason, NULL, NULL
    FROM rejected_contacts x
    WHERE run_id = $1
    ORDER BY line
  `;
  for await (const rows of streamRows<DbResultRow>(client, 'results', { sql, values: [run] }, batchSize)) {
    yield rows.map(toResult);
  }
}

function toResult({ rejection, requestState, outcome, reason, ...row }: DbResultRow): ContactResult {
  if (rejection !== null) return { ...row, reason: rejectionDetail(reason), state: rejection };
  return { ...row, reason: requestReason(reason), state: outcome ?? recipientStateOf[requestState] };
}

/** @returns the line after which rows are left for a later run; undefined if none are */
export async function findLimitLine(client: Snapshot, run: string): Promise<number | undefined> {
  const { rows } = await client.query<{ line: number }>(
    `
    SELECT CASE WHEN EXISTS (SELECT FROM run_rests WHERE run_id = $1) THEN 0 ELSE max(line) END AS line
    FROM runs
    JOIN contents USING (run_id)
    CROSS JOIN LATERAL unnest(lines) AS line
    WHERE run_id = $1 AND contacts_beyond_limit > 0
    HAVING count(*) > 0
    `,
    [run],
  );
  return rows[0]?.line;
}
