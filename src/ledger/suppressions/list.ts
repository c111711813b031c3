import type pg from 'pg';
import { type Channel, channels, type Suppression } from '../../domain.ts';

/** Which suppressions; all where nothing is said. */
export type SuppressionFilter = {
  readonly channel?: Channel | undefined;
  readonly address?: string | undefined;
  /** Empty: those for all. */
  readonly subAccount?: string | undefined;
};

const pageSize = 1_000;

/**
 * Suppressions by channel, address and SubAccount, in pages: memory does not grow with their number. What is added or
 * removed meanwhile may or may not be among them.
 *
 * @param limit most to list; undefined for all
 */
export async function* listSuppressions(
  pool: pg.Pool,
  { channel, address, subAccount }: SuppressionFilter,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly Suppression[], void, undefined> {
  let last: Suppression | undefined;
  let left = limit;
  while (left > 0) {
    // Every channel is named where none is asked for, so that an address is looked up in the key all the same.
    const { rows } = await pool.query<Suppression>(
      `
      SELECT channel, address, sub_account AS "subAccount", reason, source, created_at AS "createdAt"
      FROM suppressions
      WHERE channel = ANY ($1::text[])
        AND ($2::text IS NULL OR address = $2)
        AND ($3::text IS NULL OR sub_account = $3)
        AND ($4::text IS NULL OR (channel, address, sub_account) > ($4, $5, $6))
      ORDER BY channel, address, sub_account
      LIMIT $7
      `,
      [
        channel === undefined ? channels : [channel],
        address ?? null,
        subAccount ?? null,
        last?.channel ?? null,
        last?.address ?? null,
        last?.subAccount ?? null,
        Math.min(pageSize, left),
      ],
    );
    if (rows.length > 0) yield rows;
    if (rows.length < pageSize) return;
    left -= rows.length;
    last = rows.at(-1);
  }
}
