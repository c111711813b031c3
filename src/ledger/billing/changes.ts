/**
 * SQL of a statement that notes for the next booking what has become of recipients: to be a part of the statement that
 * writes their outcomes.
 *
 * @param outcomes has a row for each that there is now, with `sign` 1, and for each that was there before it, with -1
 */
export function noteOutcomes(outcomes: string): string {
  const sum = (outcome: string): string =>
    `CAST(sum(sign * CAST(outcome = '${outcome}' AS integer)) AS smallint) AS ${outcome}`;
  return `
    INSERT INTO billing_changes (run_id, request, position, delivered, undelivered, units, price)
    SELECT *
    FROM (
      SELECT run_id, request, position, ${sum('delivered')}, ${sum('undelivered')}, sum(sign * units) AS units,
             sum(sign * price) AS price
      FROM (${outcomes}) AS outcomes
      GROUP BY run_id, request, position
    ) AS changes
    WHERE delivered <> 0 OR undelivered <> 0 OR units <> 0 OR price <> 0`;
}

/** SQL: all that is noted for the next booking, a row for each recipient, from rows of the two tables that have it. */
export function changesOf(changes: string, outcomes: string): string {
  return `
    SELECT run_id, request, position, delivered, undelivered, units, price, attempt
    FROM ${changes}
    UNION ALL
    SELECT b.run_id, o.request, o.position, CAST(o.delivered AS integer), CAST(NOT o.delivered AS integer), o.units,
           o.price, NULL
    FROM ${outcomes} b
    CROSS JOIN LATERAL unnest(b.requests, b.positions, b.delivered, b.units, b.prices)
      AS o (request, position, delivered, units, price)`;
}
