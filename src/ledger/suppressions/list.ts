import type pg from 'pg';
import { type Channel, channels } from '../../domain/message.ts';
import type { Suppression, SuppressionSource } from '../../domain/suppressions.ts';
import { readPages, streamRows } from '../cursor.ts';
import type { Transaction } from '../session.ts';
import { type HashKey, requireHashKey } from './hash.ts';

export type SuppressionFilter = {
  readonly channel?: Channel | undefined;
  readonly address?: string | undefined;
  /** Empty: suppressions for all accounts. */
  readonly account?: string | undefined;
  /** Empty: suppressions for all SubAccounts. */
  readonly subAccount?: string | undefined;
};

/**
 * Lists suppressions in key order, in pages, in constant memory. Hashed ones have no reason, and no address unless the
 * filter names it.
 */
export async function listSuppressions(
  pool: pg.Pool,
  { channel, address, account, subAccount }: SuppressionFilter,
  {
    limit,
    onPage,
    hashKey = null,
  }: {
    readonly limit?: number | undefined;
    readonly onPage: (page: readonly Suppression[]) => void;
    readonly hashKey?: HashKey | null;
  },
): Promise<number> {
  // Names every channel, so that an address is looked up by key.
  const sql = `
    SELECT channel, address, account, sub_account AS "subAccount", reason, run_id AS run, source, added_by AS by,
           created_at AS "createdAt"
    FROM suppressions
    WHERE channel = ANY ($1::text[]) AND ($2::text IS NULL OR address = $2) AND ($3::text IS NULL OR sub_account = $3)
      AND ($6::text IS NULL OR account = $6)
    UNION ALL
    SELECT s.channel, coalesce($2, 'hash ' || encode(s.hash, 'hex')) COLLATE "C", s.account, s.sub_account, '', NULL, s.source, NULL,
           s.created_at
    FROM hashed_suppressions s
    WHERE s.channel = ANY ($1::text[]) AND ($3::text IS NULL OR s.sub_account = $3)
      AND ($6::text IS NULL OR s.account = $6)
      AND ($2::text IS NULL OR (s.channel, s.hash) IN (SELECT * FROM unnest($1::text[], $5::bytea[])))
    ORDER BY channel, address, account, "subAccount"
    LIMIT $4
  `;
  const asked = channel === undefined ? channels : [channel];
  const hashes = asked.map((each) => (address === undefined ? null : (hashKey?.hash(each, address) ?? null)));
  const values = [asked, address ?? null, subAccount ?? null, limit ?? null, hashes, account ?? null];
  async function* found(client: Transaction): AsyncGenerator<readonly Suppression[], void, undefined> {
    if (address !== undefined) await requireHashKey(client, hashKey);
    yield* streamRows<Suppression>(client, 'suppressions', { sql, values }, 1_000);
  }
  return readPages(pool, found, onPage);
}

export type SuppressionKind = {
  readonly channel?: Channel | undefined;
  /** Empty: those for all accounts. */
  readonly account?: string | undefined;
  readonly source?: SuppressionSource | undefined;
  /** Only for these accounts and for all; null: no limit. */
  readonly accounts: readonly string[] | null;
};

/** A suppression whose address is known; hashed ones are in no page. */
export type PagedSuppression = Suppression & { readonly account: string };

/** The last suppression of a page. Its SubAccount may be hidden, so it is not named. */
export type SuppressionPlace = Pick<PagedSuppression, 'channel' | 'address' | 'account'> & {
  /** How many suppressions of the address and account were listed. */
  readonly listed: number;
};

/** The place of the last suppression of a page. @param after where the page began */
export function endOf(
  page: readonly PagedSuppression[],
  after: SuppressionPlace | undefined,
): SuppressionPlace | undefined {
  const last = page.at(-1);
  if (!last) return after;
  const { channel, address, account } = last;
  const isOfSame = (each: Omit<SuppressionPlace, 'listed'>): boolean =>
    each.channel === channel && each.address === address && each.account === account;
  const before = after && isOfSame(after) ? after.listed : 0;
  return { channel, address, account, listed: before + page.filter(isOfSame).length };
}

const ofKind = `
  ($2::text IS NULL OR account = $2) AND ($3::text IS NULL OR source = $3)
  AND ($4::text[] IS NULL OR account = '' OR account = ANY ($4))
`;

/** Lists a page in key order. Reads channel by channel: with `channel = ANY`, Postgres would read those before the page. */
export async function pageSuppressions(
  pool: pg.Pool,
  kind: SuppressionKind,
  { after, limit }: { readonly after: SuppressionPlace | undefined; readonly limit: number },
): Promise<PagedSuppression[]> {
  const found: PagedSuppression[] = [];
  for (const channel of channels.toSorted()) {
    if (kind.channel !== undefined && kind.channel !== channel) continue;
    if (after && channel < after.channel) continue;
    const from = after?.channel === channel ? after : undefined;
    found.push(...(await pageOfChannel(pool, { ...kind, channel }, from, limit - found.length)));
    if (found.length >= limit) break;
  }
  return found;
}

async function pageOfChannel(
  pool: pg.Pool,
  { channel, account, source, accounts }: SuppressionKind,
  after: SuppressionPlace | undefined,
  limit: number,
): Promise<PagedSuppression[]> {
  const { rows } = await pool.query<PagedSuppression>(
    `
    SELECT channel, address, account, sub_account AS "subAccount", reason, run_id AS run, source, added_by AS by,
           created_at AS "createdAt"
    FROM suppressions
    WHERE channel = $1 AND ${ofKind} AND (address, account) >= ($5 COLLATE "C", $6)
    ORDER BY address, account, sub_account
    LIMIT $7 OFFSET $8
    `,
    [
      channel,
      account ?? null,
      source ?? null,
      accounts,
      after?.address ?? '',
      after?.account ?? '',
      limit,
      after?.listed ?? 0,
    ],
  );
  return rows;
}

export type SuppressionCounts = {
  /** At most the limit. */
  readonly known: number;
  /** Kept as hashes since a purge. At most the limit. */
  readonly hashed: number;
};

/** Counts up to a limit, because there can be millions: 10,000 are counted in 5 ms. */
export async function countSuppressions(
  pool: pg.Pool,
  { channel, account, source, accounts }: SuppressionKind,
  limit: number,
): Promise<SuppressionCounts> {
  const counted = (table: string): string =>
    `(SELECT count(*)::integer FROM (SELECT FROM ${table} WHERE channel = ANY ($1) AND ${ofKind} LIMIT $5) counted)`;
  const { rows } = await pool.query<SuppressionCounts>(
    `SELECT ${counted('suppressions')} AS known, ${counted('hashed_suppressions')} AS hashed`,
    [channel === undefined ? channels : [channel], account ?? null, source ?? null, accounts, limit],
  );
  return rows[0] ?? { known: 0, hashed: 0 };
}
