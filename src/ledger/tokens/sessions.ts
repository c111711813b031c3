import type pg from 'pg';
import type { Transaction } from '../session.ts';
import { type Token, tokenColumns } from './tokens.ts';

/** A session of the dashboard, which was opened with a token. Only a digest of its id is stored. */
export type NewSession = {
  readonly sha256: Buffer;
  readonly token: string;
  /** Of the company's identity provider; null: the owner of the token. */
  readonly person: string | null;
  readonly createdAt: Date;
};

/** Which sessions have not ended. */
export type SessionLimits = {
  readonly now: Date;
  readonly createdSince: Date;
  readonly usedSince: Date;
};

/** Adds a session, and removes those that have ended. */
export async function addSession(
  pool: pg.Pool,
  { sha256, token, person, createdAt }: NewSession,
  { createdSince, usedSince }: SessionLimits,
): Promise<void> {
  await pool.query(
    `
    WITH ended AS (DELETE FROM sessions WHERE created_at < $4 OR used_at < $5)
    INSERT INTO sessions (sha256, token, created_at, used_at, person) VALUES ($1, $2, $3, $3, $6)
    `,
    [sha256, token, createdAt, createdSince, usedSince, person],
  );
}

/** SQL: whether neither session `s` nor its token `t` has ended. $2, $3 and $4 are the limits. */
const isOpen = `s.created_at >= $3 AND s.used_at >= $4 AND t.revoked_at IS NULL
      AND (t.expires_at IS NULL OR t.expires_at > $2)`;

/** A session, the token with which it was opened, as that of its person, and when it was last used, to the minute. */
type OpenSession = { readonly sha256: Buffer; readonly token: Token; readonly usedAt: Date };

/** Finds those of the given sessions that have not ended, and whose token has not. In any order. */
export async function findSessions(
  pool: pg.Pool,
  sha256s: readonly Buffer[],
  { now, createdSince, usedSince }: SessionLimits,
): Promise<OpenSession[]> {
  const { rows } = await pool.query<Token & { person: string | null; sessionUsedAt: Date; sha256: Buffer }>(
    `
    SELECT ${tokenColumns}, s.person, s.used_at AS "sessionUsedAt", s.sha256
    FROM sessions s
    JOIN tokens t ON t.name = s.token
    WHERE s.sha256 = ANY ($1) AND ${isOpen}
    `,
    [sha256s, now, createdSince, usedSince],
  );
  return rows.map(({ person, sessionUsedAt: usedAt, sha256, ...token }) => ({
    token: { ...token, owner: person ?? token.owner },
    usedAt,
    sha256,
  }));
}

export async function countOpenSessions(
  pool: pg.Pool,
  token: string,
  { createdSince, usedSince }: SessionLimits,
): Promise<number> {
  const { rows } = await pool.query<{ sessions: number }>(
    `
    SELECT count(*)::integer AS sessions
    FROM sessions
    WHERE token = $1 AND created_at >= $2 AND used_at >= $3
    `,
    [token, createdSince, usedSince],
  );
  return rows[0]?.sessions ?? 0;
}

export async function recordSessionUse(pool: pg.Pool, sha256: Buffer, now: Date): Promise<void> {
  await pool.query('UPDATE sessions SET used_at = greatest(used_at, $2) WHERE sha256 = $1', [sha256, now]);
}

export type OwnedSession = NewSession & { readonly usedAt: Date };

/** Lists the sessions of all tokens of an owner, the last used first. */
export async function listSessionsOf(
  pool: pg.Pool,
  owner: string,
  { now, createdSince, usedSince }: SessionLimits,
): Promise<OwnedSession[]> {
  const { rows } = await pool.query<OwnedSession>(
    `
    SELECT s.sha256, s.token, s.created_at AS "createdAt", s.used_at AS "usedAt"
    FROM sessions s
    JOIN tokens t ON t.name = s.token
    WHERE coalesce(s.person, t.owner) = $1 AND ${isOpen}
    ORDER BY s.used_at DESC, s.created_at DESC, s.sha256
    `,
    [owner, now, createdSince, usedSince],
  );
  return rows;
}

/** @returns the name of its token; undefined if the owner has no such session */
export async function removeSessionOf(
  client: Transaction,
  owner: string,
  sha256: Buffer,
): Promise<string | undefined> {
  const { rows } = await client.query<{ token: string }>(
    `
    DELETE FROM sessions s
    USING tokens t
    WHERE s.sha256 = $2 AND t.name = s.token AND coalesce(s.person, t.owner) = $1
    RETURNING s.token
    `,
    [owner, sha256],
  );
  return rows[0]?.token;
}

/** @returns whether its person signed in with the company's identity provider */
export async function removeSession(pool: pg.Pool, sha256: Buffer): Promise<boolean> {
  const sql = 'DELETE FROM sessions WHERE sha256 = $1 RETURNING person';
  const { rows } = await pool.query<{ person: string | null }>(sql, [sha256]);
  return typeof rows[0]?.person === 'string';
}
