import type { RejectedContactRecord } from '../../domain/rejected-contacts.ts';
import { leftOutReason, type Stored } from '../reasons.ts';
import { contactFileOf } from '../request-rows.ts';
import type { Connection } from '../session.ts';
import { rejectionDetailOfRow } from './rejection-detail.ts';

/** A rejected contact and its place among those of the run, which counts lines from file to file. */
export type PlacedContact = RejectedContactRecord & { readonly row: number };

/**
 * Lists one page of a run's rejected contacts, in the order of their rows.
 *
 * @param after `row` of the last contact before the page; 0: from the first one
 */
export async function listRejectedAfter(
  client: Connection,
  run: string,
  after: number,
  limit: number,
): Promise<PlacedContact[]> {
  const { rows } = await client.query<Stored<PlacedContact, 'detail'>>(
    `
    SELECT r.line AS row, coalesce(f.name, '') AS file, r.line - coalesce(f.lines_before, 0) AS line,
           r.column_name AS "column", r.reason, ${rejectionDetailOfRow('r', '$1')} AS detail
    FROM (SELECT * FROM rejected_contacts WHERE run_id = $1 AND line > $2 ORDER BY line LIMIT $3) r
    LEFT JOIN ${contactFileOf('$1', 'r.line')} f ON true
    ORDER BY r.line
    `,
    [run, after, limit],
  );
  return rows.map((row) => ({ ...row, detail: leftOutReason(row.detail) }));
}
