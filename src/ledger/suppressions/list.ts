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
  filter: SuppressionFilter,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly Suppression[], void, undefined> {
  const asked = filter.channel === undefined ? channels.toSorted() : [filter.channel];
  let left = limit;
  for (const channel of asked) {
    let last: Suppression | undefined;
    for (let full = true; full && left > 0; ) {
      const size = Math.min(pageSize, left);
      const page = await readPage(pool, { ...filter, channel }, last, size);
      if (page.length > 0) yield page;
      left -= page.length;
      last = page.at(-1);
      full = page.length === size;
    }
  }
}

/** One channel's after the last: with the channel fixed, Postgres begins at that place of the key, however far it is. */
async function readPage(
  pool: pg.Pool,
  { channel, address, subAccount }: SuppressionFilter,
  last: Suppression | undefined,
  size: number,
): Promise<Suppression[]> {
  const { rows } = await pool.query<Suppression>(
    `
    SELECT channel, address, sub_account AS "subAccount", reason, source, created_at AS "createdAt"
    FROM suppressions
    WHERE channel = $1
      AND ($2::text IS NULL OR address = $2)
      AND ($3::text IS NULL OR sub_account = $3)
      AND ($4::text IS NULL OR (address, sub_account) > ($4, $5))
    ORDER BY address, sub_account
    LIMIT $6
    `,
    [channel, address ?? null, subAccount ?? null, last?.address ?? null, last?.subAccount ?? null, size],
  );
  return rows;
}
