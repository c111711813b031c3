import type pg from 'pg';
import type { RefusedRun } from '../../domain/problems.ts';
import { reasonValue } from '../reasons.ts';

/**
 * Notes that a run was refused, for each target that asks for it.
 *
 * @param targets parsed again by their reader
 * @param campaignFile absolute, on this machine
 * @returns the notifications
 */
export async function insertRefusals(
  pool: pg.Pool,
  targets: readonly unknown[],
  { refused, campaignFile }: { readonly refused: RefusedRun; readonly campaignFile: string },
  now: Date,
): Promise<string[]> {
  const { rows } = await pool.query<{ notification: string }>(
    `
    INSERT INTO notifications (place, event, target, campaign_file, refused, reason, noted_at)
    SELECT place, 'refused', target, $2, $3, $4, $5
    FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS each (target, place)
    WHERE target -> 'on' @> '"refused"'
    RETURNING notification
    `,
    [JSON.stringify(targets), campaignFile, JSON.stringify(refused), reasonValue(refused.reason), now],
  );
  return rows.map(({ notification }) => notification);
}
