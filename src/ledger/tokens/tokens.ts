import type pg from 'pg';
import type { Actor, Person, TokenScope } from '../../domain/access.ts';
import type { Transaction } from '../session.ts';

/** A token of the API. Only a digest of its text is stored. */
export type Token = {
  readonly name: string;
  /** The person it belongs to. */
  readonly owner: string;
  readonly scope: TokenScope;
  /** The accounts whose runs and campaigns it can use; null: all. */
  readonly accounts: readonly string[] | null;
  /** The person who made it; null: not known. */
  readonly madeBy: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
  /** Its person gets it by a link until then; null: it was shown to its maker. */
  readonly linkExpiresAt: Date | null;
  readonly linkUsedAt: Date | null;
};

/** Of one whose link is not used yet, the link says it: no person has it. */
export type TokenState = 'valid' | 'expired' | 'revoked' | 'link open' | 'link expired';

/** @param now decides whether it has expired */
export function tokenStateOf(
  { revokedAt, expiresAt, linkExpiresAt, linkUsedAt }: Token,
  now: Date,
): TokenState {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && expiresAt <= now) return 'expired';
  if (linkExpiresAt === null || linkUsedAt !== null) return 'valid';
  return linkExpiresAt <= now ? 'link expired' : 'link open';
}

export type NewToken = Pick<Token, 'name' | 'owner' | 'scope' | 'accounts' | 'createdAt' | 'expiresAt'> & {
  readonly sha256: Buffer;
  readonly maker: Actor;
  /** With which its person gets it. */
  readonly link: { readonly sha256: Buffer; readonly expiresAt: Date } | undefined;
};

/** Of `tokens t`. */
export const tokenColumns = `
  t.name, t.owner, t.scope, t.accounts, t.made_by AS "madeBy", t.created_at AS "createdAt",
  t.expires_at AS "expiresAt", t.revoked_at AS "revokedAt", t.last_used_at AS "lastUsedAt",
  t.link_expires_at AS "linkExpiresAt", t.link_used_at AS "linkUsedAt"
`;

const newColumns =
  'owner, scope, sha256, created_at, expires_at, accounts, made_by, made_via, made_with, link_sha256, link_expires_at';

/** @returns false if the name is taken, even by a revoked token. One whose link ended unused has done nothing: it is replaced */
export async function addToken(client: Transaction, token: NewToken): Promise<boolean> {
  const { name, owner, scope, accounts, maker, sha256, createdAt, expiresAt, link } = token;
  const { rowCount } = await client.query(
    `
    INSERT INTO tokens AS t (name, ${newColumns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT (name) DO UPDATE SET (revoked_at, ${newColumns}) = (NULL, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    WHERE t.link_used_at IS NULL AND (t.link_expires_at <= $5 OR t.link_expires_at IS NOT NULL AND t.revoked_at IS NOT NULL)
    `,
    [
      name,
      owner,
      scope,
      sha256,
      createdAt,
      expiresAt,
      accounts,
      maker.name,
      maker.via,
      maker.token,
      link?.sha256 ?? null,
      link?.expiresAt ?? null,
    ],
  );
  return rowCount === 1;
}

/** Finds tokens by digest, so that the time of the answer reveals nothing. In any order. */
export async function findTokens(
  pool: pg.Pool,
  sha256s: readonly Buffer[],
): Promise<(Token & { readonly sha256: Buffer })[]> {
  const { rows } = await pool.query<Token & { sha256: Buffer }>(
    `SELECT ${tokenColumns}, t.sha256 FROM tokens t WHERE t.sha256 = ANY ($1)`,
    [sha256s],
  );
  return rows;
}

/** Finds and locks the token of a link, by digest as `findTokens`. */
export async function findTokenOfLink(client: Transaction, linkSha256: Buffer): Promise<Token | undefined> {
  const sql = `SELECT ${tokenColumns} FROM tokens t WHERE link_sha256 = $1 FOR UPDATE`;
  return (await client.query<Token>(sql, [linkSha256])).rows[0];
}

/** Uses up the link of a token, which is `sha256` from now on. */
export async function recordTokenLinkUse(
  client: Transaction,
  name: string,
  sha256: Buffer,
  now: Date,
): Promise<void> {
  const sql = 'UPDATE tokens SET sha256 = $2, link_used_at = $3 WHERE name = $1';
  await client.query(sql, [name, sha256, now]);
}

/** Lists the persons who made a token, the token with which it was made, and so on, up to the first one. */
export async function listTokenMakers(pool: pg.Pool, name: string): Promise<Person[]> {
  const { rows } = await pool.query<Person>(
    `
    WITH RECURSIVE made AS (
      SELECT made_by, made_via, made_with FROM tokens WHERE name = $1
      UNION ALL
      SELECT t.made_by, t.made_via, t.made_with FROM tokens t JOIN made ON t.name = made.made_with
    )
    SELECT made_by AS name, made_via AS via FROM made WHERE made_by IS NOT NULL
    `,
    [name],
  );
  return rows;
}

export async function listTokens(pool: pg.Pool): Promise<Token[]> {
  const { rows } = await pool.query<Token>(`SELECT ${tokenColumns} FROM tokens t ORDER BY t.name`);
  return rows;
}

/** @returns undefined if there is none */
export async function revokeToken(
  client: Transaction,
  name: string,
  now: Date,
): Promise<'revoked' | 'revoked before' | undefined> {
  const { rows } = await client.query<{ first: boolean }>(
    `
    WITH before AS (SELECT revoked_at FROM tokens WHERE name = $1 FOR UPDATE)
    UPDATE tokens t
    SET revoked_at = coalesce(t.revoked_at, $2)
    FROM before
    WHERE name = $1
    RETURNING before.revoked_at IS NULL AS first
    `,
    [name, now],
  );
  const [row] = rows;
  return row && (row.first ? 'revoked' : 'revoked before');
}

/** Sets when a token ends, unless it is revoked. */
export async function setTokenExpiry(pool: pg.Pool, name: string, expiresAt: Date): Promise<void> {
  await pool.query('UPDATE tokens SET expires_at = $2 WHERE name = $1 AND revoked_at IS NULL', [
    name,
    expiresAt,
  ]);
}

/** Records a use, unless one after `unlessUsedSince` is recorded. */
export async function recordTokenUse(
  pool: pg.Pool,
  name: string,
  now: Date,
  unlessUsedSince: Date,
): Promise<void> {
  await pool.query(
    'UPDATE tokens SET last_used_at = $2 WHERE name = $1 AND (last_used_at IS NULL OR last_used_at < $3)',
    [name, now, unlessUsedSince],
  );
}
