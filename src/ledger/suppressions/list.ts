import type pg from 'pg';
import { type Channel, channels } from '../../domain/message.ts';
import type { Suppression } from '../../domain/suppressions.ts';
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
 * In key order, in pages, in constant memory. Hashed suppressions have no reason, and no address unless the filter
 * names it.
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
