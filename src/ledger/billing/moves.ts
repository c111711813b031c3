import { batchOf } from '../batch.ts';
import type { Transaction } from '../session.ts';

/** A request that is tried again. */
export type FurtherAttempt = {
  readonly run: string;
  readonly request: number;
  /** The number of the attempt; the one before it is the one that was booked. */
  readonly attempt: number;
};

const tried = batchOf<FurtherAttempt>({
  run_id: ['text', ({ run }) => run],
  request: ['integer', ({ request }) => request],
  former: ['integer', ({ attempt }) => attempt - 1],
});

/**
 * A request belongs to the time of its last attempt, and so does what was reported of it before: a service that answers
 * "busy" may have taken it all the same, and reports on it before it is sent again. What was booked under the earlier
 * attempt is taken from there. It comes after the statement that has locked the request, so that a report which held the
 * request until then is seen.
 */
export async function moveBilledOutcomes(
  client: Transaction,
  attempts: readonly FurtherAttempt[],
): Promise<void> {
  // First attempts, which are nearly all, have nothing to move.
  const further = attempts.filter(({ attempt }) => attempt > 1);
  if (further.length === 0) return;
  // One statement, so that outcomes and what is not booked of them are seen as of the same moment.
  await client.query({
    name: 'move-billed-outcomes',
    text: `
    WITH known AS MATERIALIZED (
      SELECT o.run_id, o.request, o.position, o.outcome, o.units, o.price, a.started_at AS former
      FROM ${tried.table('t')}
      JOIN attempts a ON a.run_id = t.run_id AND a.request = t.request AND a.attempt = t.former
      JOIN recipient_outcomes o ON o.run_id = t.run_id AND o.request = t.request
      WHERE o.outcome <> 'cancelled'
    ), kept AS (
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
    values: tried.values(further),
  });
}
