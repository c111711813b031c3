import type pg from 'pg';
import type { RequestReason } from '../../domain/reasons.ts';
import { moveOutcomesToLastAttempt } from '../billing/changes.ts';
import { reasonValue } from '../reasons.ts';
import { inTransaction } from '../session.ts';

/**
 * Commits the next attempt before its first byte is sent (rule 1), with the same MessageID and bytes (rule 3). Can be
 * repeated.
 *
 * @returns false if the owner no longer holds the request and must not send it
 */
export async function startNextAttempt(
  pool: pg.Pool,
  retry: {
    readonly run: string;
    readonly owner: string;
    readonly request: number;
    readonly attempt: number;
    readonly httpStatus: number | null;
    readonly detail: RequestReason | null;
    readonly finishedAt: Date;
    readonly now: Date;
  },
): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ isNew: boolean }>(
      `
    WITH finished AS (
      UPDATE attempts
      SET finished_at = $5, verdict = 'retry', http_status = $6, detail = $7
      WHERE run_id = $1 AND request = $3 AND attempt = $4 AND finished_at IS NULL
    ), held AS (
      UPDATE requests
      SET attempts = $4 + 1, updated_at = $8
      WHERE run_id = $1 AND request = $3 AND state = 'sending' AND owner = $2 AND attempts IN ($4, $4 + 1)
      RETURNING request
    ), started AS (
      INSERT INTO attempts (run_id, request, attempt, owner, started_at)
      SELECT $1, request, $4 + 1, $2, $8
      FROM held
      ON CONFLICT DO NOTHING
      RETURNING request
    )
    SELECT EXISTS (SELECT FROM started) AS "isNew" FROM held
    `,
      [
        retry.run,
        retry.owner,
        retry.request,
        retry.attempt,
        retry.finishedAt,
        retry.httpStatus,
        reasonValue(retry.detail),
        retry.now,
      ],
    );
    const [held] = rows;
    if (held?.isNew) await moveOutcomesToLastAttempt(client, [{ ...retry, attempt: retry.attempt + 1 }]);
    return held !== undefined;
  });
}
