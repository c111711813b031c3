import { contactFileOf, recipientOf, requestOf } from '../request-rows.ts';
import type { Connection } from '../session.ts';

/** A recipient that a delivery report says was not reached, with its row in the contact file. */
export type UndeliveredRecipient = {
  readonly request: number;
  readonly position: number;
  readonly messageId: string;
  /** In the service's words. */
  readonly result: string | null;
  readonly at: Date;
  /** Null in a purged run. */
  readonly address: string | null;
  /** Empty in a purged run. */
  readonly file: string;
  readonly line: number;
};

export type UndeliveredQuery = {
  /** As `DeliveryResult.group`; all if undefined. */
  readonly group?: string | undefined;
  /** The last row of the page before. */
  readonly after?: Pick<UndeliveredRecipient, 'request' | 'position'> | undefined;
};

/** By request. Of a million outcomes, finding the only one of its group takes 0.1 s. */
export async function listUndelivered(
  client: Connection,
  run: string,
  { group, after }: UndeliveredQuery,
  limit: number,
): Promise<UndeliveredRecipient[]> {
  const { rows } = await client.query<UndeliveredRecipient>(
    `
    SELECT p.*, m.message_id AS "messageId", r.address, coalesce(f.name, '') AS file,
           coalesce(r.line - coalesce(f.lines_before, 0), 0) AS line
    FROM (
      SELECT request, position, result, reported_at AS at
      FROM recipient_outcomes
      WHERE run_id = $1 AND outcome = 'undelivered' AND (request, position) > ($3, $4)
        AND ($2::text IS NULL OR result_group(result) = $2)
      ORDER BY request, position
      LIMIT $5
    ) p
    CROSS JOIN ${requestOf('$1', 'p.request')} m
    LEFT JOIN ${recipientOf('$1', 'p.request', 'p.position')} r ON true
    LEFT JOIN ${contactFileOf('$1', 'r.line')} f ON true
    ORDER BY p.request, p.position
    `,
    [run, group ?? null, after?.request ?? 0, after?.position ?? 0, limit],
  );
  return rows;
}
