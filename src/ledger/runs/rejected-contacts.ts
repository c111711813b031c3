import type { RejectionReason } from '../../domain/contacts.ts';
import type { RejectedContactRecord } from '../../domain/rejected-contacts.ts';
import { rejectionDetail, type Stored } from '../reasons.ts';
import { contactFileOf } from '../request-rows.ts';
import type { ReadConnection } from '../session.ts';
import { rejectionDetailOfRow } from './rejection-detail.ts';

/** A rejected contact; `row` counts lines from file to file. */
export type PlacedContact = RejectedContactRecord & { readonly row: number };

type RejectedPage = {
  readonly limit: number;
  /** `row` of the last contact before the page. */
  readonly after?: number | undefined;
  readonly reasons?: readonly RejectionReason[] | undefined;
  /** The column that is the cause. */
  readonly column?: string | undefined;
};

/** Lists rejected contacts in the order of their rows. */
export async function listRejectedContacts(
  client: ReadConnection,
  run: string,
  { limit, after = 0, reasons, column }: RejectedPage,
): Promise<PlacedContact[]> {
  const { rows } = await client.query<Stored<PlacedContact, 'detail'>>(
    `
    SELECT r.line AS row, coalesce(f.name, '') AS file, r.line - coalesce(f.lines_before, 0) AS line,
           r.column_name AS "column", r.reason, ${rejectionDetailOfRow('r', '$1')} AS detail
    FROM (
      SELECT *
      FROM rejected_contacts
      WHERE run_id = $1 AND line > $3 AND ($4::text[] IS NULL OR reason = ANY ($4))
        AND ($5::text IS NULL OR column_name = $5)
      ORDER BY line
      LIMIT $2
    ) r
    LEFT JOIN ${contactFileOf('$1', 'r.line')} f ON true
    ORDER BY r.line
    `,
    [run, limit, after, reasons ?? null, column ?? null],
  );
  return rows.map((row) => ({ ...row, detail: rejectionDetail(row.detail) }));
}
