/** Columns and not jsonb: an object took Postgres 2 µs more for each contact. */
export const rejectionDetailColumns =
  'kind, message, related_run, sub_account, source, file, number, differs';

/** SQL: these columns of a row that cannot be used, which has a message only. */
export const unusableRowColumns = `kind, message, related_run, NULL AS sub_account, NULL AS source, NULL AS file,
             NULL::bigint AS number, NULL::boolean AS differs`;

/** SQL: sets these columns to what stays of an erased contact. */
export const eraseRejectionDetail = `kind = NULL, message = '', related_run = NULL, sub_account = NULL, source = NULL,
            file = NULL, number = NULL, differs = NULL`;

/**
 * SQL: the reason as jsonb (`RejectionDetail`).
 *
 * @param row alias of a row with `rejectionDetailColumns`
 * @param key of the contacts, jsonb
 */
export function rejectionDetailOf(row: string, channel: string, key: string): string {
  return `
    CASE
      WHEN ${row}.kind IN ('sent', 'to_be_sent', 'may_have_been_sent', 'sent_again')
        THEN jsonb_build_object('kind', ${row}.kind, 'run', ${row}.related_run)
      WHEN ${row}.kind = 'same_contact'
        THEN jsonb_build_object('kind', ${row}.kind, 'key', ${key}, 'file', ${row}.file, 'line', ${row}.number,
                                'differs', ${row}.differs)
      WHEN ${row}.kind = 'suppressed_address'
        THEN jsonb_build_object('kind', ${row}.kind, 'channel', ${channel}, 'subAccount', ${row}.sub_account,
                                'source', ${row}.source, 'reason', ${row}.message, 'run', ${row}.related_run)
      WHEN ${row}.kind = 'suppressed_hash'
        THEN jsonb_build_object('kind', ${row}.kind, 'channel', ${channel}, 'subAccount', ${row}.sub_account)
      WHEN ${row}.kind = 'listed'
        THEN jsonb_build_object('kind', ${row}.kind, 'file', ${row}.file, 'line', ${row}.number)
      WHEN ${row}.kind = 'sent_recently'
        THEN jsonb_build_object('kind', ${row}.kind, 'milliseconds', ${row}.number, 'run', ${row}.related_run)
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
