import type { RequestReason } from '../../domain/reasons.ts';
import type { RejectedContactRecord } from '../../domain/rejected-contacts.ts';
import { type FailedState, failedStates } from '../../domain/runs.ts';
import { rejectionDetail, requestReason, type Stored } from '../reasons.ts';
import { contactFileOf, recipientOf, recipientsOf } from '../request-rows.ts';
import { failureGroup } from '../requests/list-failed.ts';
import type { Connection, ReadConnection } from '../session.ts';
import { rejectionDetailOfRow } from './rejection-detail.ts';

/* The contacts of a run that did not get their message, in pages: rejected ones, recipients of failed requests, undelivered ones. */

/** A rejected contact; `row` counts lines from file to file. */
export type PlacedContact = RejectedContactRecord & { readonly row: number };

/**
 * Lists rejected contacts in the order of their rows.
 *
 * @param after `row` of the last contact before the page
 */
export async function listRejectedContacts(
  client: ReadConnection,
  run: string,
  limit: number,
  after = 0,
): Promise<PlacedContact[]> {
  const { rows } = await client.query<Stored<PlacedContact, 'detail'>>(
    `
    SELECT r.line AS row, coalesce(f.name, '') AS file, r.line - coalesce(f.lines_before, 0) AS line,
           r.column_name AS "column", r.reason, ${rejectionDetailOfRow('r', '$1')} AS detail
    FROM (SELECT * FROM rejected_contacts WHERE run_id = $1 AND line > $3 ORDER BY line LIMIT $2) r
    LEFT JOIN ${contactFileOf('$1', 'r.line')} f ON true
    ORDER BY r.line
    `,
    [run, limit, after],
  );
  return rows.map((row) => ({ ...row, detail: rejectionDetail(row.detail) }));
}

/** A recipient with its row in the contact file. */
type ListedRecipient = {
  readonly request: number;
  readonly position: number;
  readonly messageId: string;
  readonly at: Date | null;
  /** Null in a purged run. */
  readonly address: string | null;
  /** Empty in a purged run. */
  readonly file: string;
  readonly line: number;
};

export type FailedRecipient = ListedRecipient & {
  readonly state: FailedState;
  readonly reason: RequestReason | null;
  readonly attempts: number;
};

/** A delivery report says that it was not reached, in the service's words. */
export type UndeliveredRecipient = ListedRecipient & { readonly result: string | null };

type RecipientPage = {
  /** As `FailureGroup.group` or `DeliveryResult.group`; all if undefined. */
  readonly group?: string | undefined;
  /** The last row of the page before. */
  readonly after?: Pick<ListedRecipient, 'request' | 'position'> | undefined;
};

/** Lists recipients of failed requests, by request. */
export async function listFailedRecipients(
  client: Connection,
  run: string,
  { group, after }: RecipientPage,
  limit: number,
): Promise<FailedRecipient[]> {
  const { rows } = await client.query<Stored<FailedRecipient>>(
    withRows(`
      SELECT q.request, q.state, q.reason, q.attempts, q.updated_at AS at, r.position, r.address, r.line AS row
      FROM requests q
      CROSS JOIN ${recipientsOf('$1', 'q.request')} r
      WHERE q.run_id = $1 AND q.state = ANY ($6::text[]) AND ($2::text IS NULL OR ${failureGroup('q')} = $2)
        AND q.request >= $3 AND (q.request > $3 OR r.position > $4)
      ORDER BY q.request, r.position
      LIMIT $5`),
    [run, group ?? null, after?.request ?? 0, after?.position ?? 0, limit, failedStates],
  );
  return rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
}

/** Lists undelivered recipients, by request. Of a million outcomes, finding the only one of its group takes 0.1 s. */
export async function listUndelivered(
  client: Connection,
  run: string,
  { group, after }: RecipientPage,
  limit: number,
): Promise<UndeliveredRecipient[]> {
  const { rows } = await client.query<UndeliveredRecipient>(
    withRows(`
      SELECT o.*, r.address, r.line AS row
      FROM (
        SELECT o.request, o.position, o.result, o.reported_at AS at
        FROM (
          SELECT first, least(first + step - 1, last_request) AS last
          FROM (SELECT *, ${requestsOfPart} AS step FROM slices WHERE run_id = $1 AND last_request >= $3) s
          CROSS JOIN LATERAL generate_series(greatest(first_request, $3), last_request, step) AS first
          ORDER BY first
          OFFSET 0
        ) part
        CROSS JOIN LATERAL (
          SELECT *
          FROM recipient_outcomes_between($1, part.first, part.last)
          WHERE outcome = 'undelivered' AND (request, position) > ($3, $4)
            AND ($2::text IS NULL OR result_group(result) = $2)
          ORDER BY request, position
          LIMIT $5
        ) o
        -- Part by part: the first ones may have enough.
        ORDER BY part.first, o.request, o.position
        LIMIT $5
      ) o
      LEFT JOIN ${recipientOf('$1', 'o.request', 'o.position')} r ON true`),
    [run, group ?? null, after?.request ?? 0, after?.position ?? 0, limit],
  );
  return rows;
}

/** SQL: so many requests of a slice have about 2,000 recipients. */
const requestsOfPart = `(last_request - first_request + 1) * 2000 / greatest(2000, accepted_recipients)`;

/** SQL: recipients of the run $1, with their MessageIDs and rows in the contact files. */
function withRows(recipients: string): string {
  return `
    SELECT p.*, message_id(u.run_number, u.message_key, p.request) AS "messageId", coalesce(f.name, '') AS file,
           coalesce(p.row - coalesce(f.lines_before, 0), 0) AS line
    FROM (${recipients}
    ) p
    JOIN runs u ON u.run_id = $1
    LEFT JOIN ${contactFileOf('$1', 'p.row')} f ON true
    ORDER BY p.request, p.position`;
}
