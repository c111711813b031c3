import { batchOf } from '../batch.ts';
import { outcomesOf } from '../request-rows.ts';
import type { Transaction } from '../session.ts';

/** Adds the slices of a run in planning, all unbooked. */
export async function insertBillingSlices(client: Transaction, run: string): Promise<void> {
  await client.query(
    `
    INSERT INTO billing_slices (run_id, slice, open)
    SELECT run_id, slice, true
    FROM slices
    WHERE run_id = $1 AND phase = 'sending'
    `,
    [run],
  );
}

/**
 * SQL of a statement that records changed settled requests, so that their slices are booked again, as part of the
 * statement that changes them. Slices of unsettled requests are open anyway.
 *
 * @param requests SQL: a table with `run_id` and `request`
 */
export function recordReopenedRequests(requests: string): string {
  return `
    INSERT INTO billing_reopened_requests (run_id, request)
    SELECT run_id, request
    FROM ${requests} AS changed`;
}

/**
 * SQL of a statement that records outcome changes for booking, as part of the statement that writes them.
 *
 * @param outcomes a row with `sign` 1 for each new outcome, and one with -1 for each that it replaces
 */
export function recordOutcomeChanges(outcomes: string): string {
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
 * SQL: like `recordOutcomeChanges`, for recipients of accepted requests without an earlier outcome. It sums them by
 * request: the caller knows what booking would have to look up.
 *
 * @param outcomes has run_id, request, slice, envelope, tariff, outcome, units and price of each
 */
export function recordFirstOutcomes(outcomes: string): string {
  return `
    INSERT INTO billing_outcomes (run_id, requests, slices, envelopes, tariffs, delivered, undelivered, units, prices)
    SELECT run_id, array_agg(request), array_agg(slice), array_agg(envelope), array_agg(tariff), array_agg(delivered),
           array_agg(undelivered), array_agg(units), array_agg(price)
    FROM (
      SELECT run_id, request, slice, envelope, tariff, count(*) FILTER (WHERE outcome = 'delivered') AS delivered,
             count(*) FILTER (WHERE outcome = 'undelivered') AS undelivered, sum(units) AS units, sum(price) AS price
      FROM (${outcomes}) AS outcomes
      GROUP BY run_id, request, slice, envelope, tariff
    ) AS of_request
    GROUP BY run_id`;
}

export type LaterAttempt = {
  readonly run: string;
  readonly request: number;
  readonly attempt: number;
};

const laterAttempts = batchOf<LaterAttempt>({
  run_id: ['text', ({ run }) => run],
  request: ['integer', ({ request }) => request],
  former: ['integer', ({ attempt }) => attempt - 1],
});

/**
 * Moves reported outcomes to the last attempt, which decides when a request was sent: a service that answers "busy"
 * may have accepted the request, and report on it before the retry. Call this after locking the request, to see
 * reports that held the lock before.
 */
export async function moveOutcomesToLastAttempt(
  client: Transaction,
  attempts: readonly LaterAttempt[],
): Promise<void> {
  const later = attempts.filter(({ attempt }) => attempt > 1);
  if (later.length === 0) return;
  // One statement reads outcomes and unbooked changes from the same snapshot.
  await client.query({
    name: 'move-billed-outcomes',
    text: `
    WITH known AS MATERIALIZED (
      SELECT o.run_id, o.request, o.position, o.outcome, o.units, o.price, a.started_at AS former
      FROM ${laterAttempts.table('t')}
      JOIN attempts a ON a.run_id = t.run_id AND a.request = t.request AND a.attempt = t.former
      CROSS JOIN ${outcomesOf('t.run_id', 't.request')} o
      WHERE o.outcome <> 'cancelled'
    ), redated AS (
      UPDATE billing_changes c
      SET sent = k.former
      FROM (SELECT DISTINCT run_id, request, former FROM known) k
      WHERE c.run_id = k.run_id AND c.request = k.request AND c.sent IS NULL
    )
    INSERT INTO billing_changes (run_id, request, position, delivered, undelivered, units, price, sent)
    SELECT run_id, request, position,
           CAST(sign * CAST(outcome = 'delivered' AS integer) AS smallint),
           CAST(sign * CAST(outcome = 'undelivered' AS integer) AS smallint),
           sign * units, sign * price, CASE sign WHEN -1 THEN former END
    FROM known
    CROSS JOIN (VALUES (-1), (1)) AS side (sign)
    `,
    values: laterAttempts.values(later),
  });
}
