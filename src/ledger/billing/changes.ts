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

/**
 * SQL: all that is noted for the next booking, from rows of the two tables that have it. Which recipient of a request it is
 * matters only where those of a run have different tariffs; `position` is NULL elsewhere.
 */
export function changesOf(changes: string, outcomes: string): string {
  const ofRun = `JOIN (
      SELECT run_id, coalesce(jsonb_array_length(rates -> 'tariffs'), 0) > 1 AS several_tariffs FROM runs
    ) r`;
  return `
    SELECT d.run_id, d.request, CASE WHEN r.several_tariffs THEN d.position END AS position, d.delivered, d.undelivered,
           d.units, d.price, d.attempt
    FROM ${changes} d
    ${ofRun} ON r.run_id = d.run_id
    UNION ALL
    SELECT b.run_id, o.*, NULL
    FROM ${outcomes} b
    ${ofRun} ON r.run_id = b.run_id
    CROSS JOIN LATERAL (
      SELECT request, CASE WHEN r.several_tariffs THEN position END AS position,
             count(*) FILTER (WHERE delivered), count(*) FILTER (WHERE NOT delivered), sum(units), sum(price)
      FROM (
        -- In a list of columns: as a table, all five would be written out before the first is read.
        SELECT unnest(b.requests) AS request, unnest(b.positions) AS position, unnest(b.delivered) AS delivered,
               unnest(b.units) AS units, unnest(b.prices) AS price
      ) each
      GROUP BY 1, 2
    ) o`;
}
