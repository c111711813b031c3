import type { RejectionReason } from '../../domain/contacts.ts';
import { type RejectedContactRecord, rejectionKinds } from '../../domain/rejected-contacts.ts';
import { rejectionDetail, type Stored } from '../reasons.ts';
import { contactFileOf } from '../request-rows.ts';
import type { ReadConnection } from '../session.ts';

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

/** Columns and not jsonb: an object took Postgres 2 µs more for each contact. */
export const rejectionDetailColumns =
  'kind, message, related_run, sub_account, source, file, number, differs, most';

/** SQL: these columns of a row that cannot be used, which has a message only. */
const unusableRowColumns = `kind, message, related_run, NULL AS sub_account, NULL AS source, NULL AS file,
             NULL::bigint AS number, NULL::boolean AS differs, NULL::integer AS most`;

/** SQL: all contacts that a plan rejects, from the staging tables. */
export const stagedRejections = `
      SELECT line, column_name, reason, ${unusableRowColumns}
      FROM staged_rejections
      UNION ALL
      SELECT line, column_name, reason, ${rejectionDetailColumns} FROM left_out`;

/** SQL: sets these columns to what stays of an erased contact. */
export const eraseRejectionDetail = `kind = NULL, message = '', related_run = NULL, sub_account = NULL, source = NULL,
            file = NULL, number = NULL, differs = NULL, most = NULL`;

type Kinds = typeof rejectionKinds;
type Value = { [Kind in keyof Kinds]: keyof Kinds[Kind]['fields'] }[keyof Kinds];

/**
 * SQL: the reason as jsonb (`RejectionDetail`).
 *
 * @param row alias of a row with `rejectionDetailColumns`
 * @param key of the contacts, jsonb
 */
export function rejectionDetailOf(row: string, channel: string, key: string): string {
  const values: Readonly<Record<Value, string>> = {
    run: `${row}.related_run`,
    key,
    file: `${row}.file`,
    line: `${row}.number`,
    milliseconds: `${row}.number`,
    differs: `${row}.differs`,
    most: `${row}.most`,
    channel,
    subAccount: `${row}.sub_account`,
    source: `${row}.source`,
    of: `${row}.source`,
    reason: `${row}.message`,
  };
  const objects = Object.entries(rejectionKinds).map(([kind, { fields }]) => {
    const pairs = Object.entries(values).flatMap(([name, value]) =>
      name in fields ? [`'${name}', ${value}`] : [],
    );
    return `WHEN ${row}.kind = '${kind}' THEN jsonb_build_object(${[`'kind', ${row}.kind`, ...pairs].join(', ')})`;
  });
  return `
    CASE
      ${objects.join('\n      ')}
      WHEN ${row}.kind IS NULL OR ${row}.kind = 'unusable' THEN to_jsonb(${row}.message)
    END`;
}

/** SQL. Reads the definition, which can have a megabyte, once. */
export function rejectionDetailOfRow(row: string, run: string): string {
  return rejectionDetailOf(
    row,
    `(SELECT channel FROM runs WHERE run_id = ${run})`,
    `(SELECT coalesce(definition #> '{contacts,key}', '[]') FROM runs WHERE run_id = ${run})`,
  );
}
