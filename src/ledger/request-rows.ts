/** SQL: the range of all requests. */
export const everyRequest = '1, 2147483647';

/**
 * SQL to join: a request. LIMIT makes it a lookup for each row. Of a range Postgres expects 0.5% of the table, and
 * may join every request of a run with every other.
 */
export function requestOf(run: string, request: string): string {
  return `LATERAL (SELECT * FROM requests_between(${run}, ${request}, ${request}) LIMIT 1)`;
}

export function recipientsOf(run: string, request: string): string {
  return `LATERAL (SELECT * FROM recipients_between(${run}, ${request}, ${request}) OFFSET 0)`;
}

export function recipientOf(run: string, request: string, position: string): string {
  return `LATERAL (SELECT * FROM recipients_between(${run}, ${request}, ${request}) s WHERE s.position = ${position} LIMIT 1)`;
}

export function attemptsOf(run: string, request: string): string {
  return `LATERAL (SELECT * FROM attempts_between(${run}, ${request}, ${request}) OFFSET 0)`;
}

export function attemptOf(run: string, request: string, attempt: string): string {
  return `LATERAL (SELECT * FROM attempts_between(${run}, ${request}, ${request}) s WHERE s.attempt = ${attempt} LIMIT 1)`;
}

/** SQL: the number of suppressed recipients in a row's request. */
export function countSuppressedOf(row: string): string {
  return `(
    SELECT count(*)::integer
    FROM recipient_outcomes o
    WHERE o.run_id = ${row}.run_id AND o.request = ${row}.request AND o.outcome = 'cancelled'
  )`;
}

/** SQL to join: the contact file of a line; lines count across files. */
export function contactFileOf(run: string, line: string): string {
  return `LATERAL (
    SELECT name, lines_before
    FROM contact_files
    WHERE run_id = ${run} AND lines_before < ${line}
    ORDER BY lines_before DESC
    LIMIT 1
  )`;
}
