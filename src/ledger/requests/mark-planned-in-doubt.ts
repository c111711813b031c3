import { randomUUID } from 'node:crypto';
import type { UnrecordedReason } from '../../domain/reasons.ts';
import { moveOutcomesToLastAttempt } from '../billing/changes.ts';
import { reasonOf, reasonValue } from '../reasons.ts';
import type { Transaction } from '../session.ts';
import { addAllPlannedRows } from './add-rows.ts';

export type UnrecordedCause = { readonly reason: UnrecordedReason; readonly since: Date };

/**
 * `planned → in_doubt` for requests that a lost ledger may have sent, or `accepted` by a delivery report. Adds the
 * attempt that may have been made, for billing and reports. The caller holds the run.
 *
 * @returns the number of requests in doubt
 */
export async function markPlannedInDoubt(
  client: Transaction,
  run: string,
  { reason, since }: UnrecordedCause,
  now: Date,
): Promise<number> {
  await addAllPlannedRows(client, run);
  const { rows } = await client.query<{ request: number; attempt: number; state: string }>(
    `
    WITH unsent AS (
      UPDATE requests
      SET state = CASE WHEN reported THEN 'accepted' ELSE 'in_doubt' END,
          reason = CASE WHEN reported THEN ${reasonOf('reported')} ELSE $2::jsonb END,
          attempts = attempts + 1, updated_at = $4
      WHERE run_id = $1 AND state = 'planned'
      RETURNING request, attempts, state
    ), unrecorded AS (
      INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict, detail)
      SELECT $1, request, attempts, $5, $3, $4, 'in_doubt', $2
      FROM unsent
    )
    SELECT request, attempts AS attempt, state FROM unsent
    `,
    [run, reasonValue(reason), since, now, randomUUID()],
  );
  await moveOutcomesToLastAttempt(
    client,
    rows.map(({ request, attempt }) => ({ run, request, attempt })),
  );
  return rows.filter(({ state }) => state === 'in_doubt').length;
}
