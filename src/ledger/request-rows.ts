/** SQL: the range of all requests of a run. */
export const everyRequest = '1, 2147483647';

/**
 * SQL to join: a request by its number. LIMIT says that it is one row and has it looked up for each row before it; of a
 * range Postgres expects a two-hundredth of the table, and it may hold every request of a run against every other.
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

/** SQL: how many recipients were left out of the request of a row. */
export function countSuppressedOf(row: string): string {
  return `(
    SELECT count(*)::integer
    FROM recipient_outcomes o
    WHERE o.run_id = ${row}.run_id AND o.request = ${row}.request AND o.outcome = 'cancelled'
  )`;
}

/** SQL to join: the contact file that has a line, which is counted on from file to file. */
export function contactFileOf(run: string, line: string): string {
  return `LATERAL (
    SELECT name, lines_before
    FROM contact_files
    WHERE run_id = ${run} AND lines_before < ${line}
    ORDER BY lines_before DESC
    LIMIT 1
  )`;
}
