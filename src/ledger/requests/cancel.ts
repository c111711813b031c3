import type pg from 'pg';

/**
 * `planned → cancelled` for requests of a run that is cancelled: they are never sent. What was in doubt and was to be
 * sent again is in doubt again: the service may have it.
 *
 * @param range of requests, both ends included; all by default
 */
export async function cancelPlanned(
  client: pg.ClientBase,
  run: string,
  now: Date,
  { first, last }: { readonly first: number; readonly last: number } = { first: 0, last: 2 ** 31 - 1 },
): Promise<void> {
  await client.query(
    `
    UPDATE requests
    SET state = CASE WHEN resends = 0 THEN 'cancelled' ELSE 'in_doubt' END,
        reason = CASE
          WHEN resends = 0 THEN 'the run was cancelled'
          ELSE 'an earlier attempt may have arrived; the run was cancelled before the next'
        END,
        updated_at = $4
    WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND state = 'planned'
    `,
    [run, first, last, now],
  );
}
