import { rejectionKinds } from '../../domain/rejected-contacts.ts';

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
