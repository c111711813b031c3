import { createHash, createHmac } from 'node:crypto';
import { InputError } from '../../domain/problems.ts';
import type { Connection, Transaction } from '../session.ts';

/**
 * The key of hashed suppressions. HMAC-SHA-256 consists of two SHA-256, so Postgres can compute it without
 * extensions, from the two padded keys as statement parameters. It stores neither.
 */
export type HashKey = {
  /** 64 bytes each. */
  readonly inner: Buffer;
  readonly outer: Buffer;
  /** Equals `hashedAddress` in SQL. */
  readonly hash: (channel: string, address: string) => Buffer;
};

/** Bytes of an HMAC block for SHA-256 (RFC 2104). */
const blockSize = 64;

export function createHashKey(secret: Uint8Array): HashKey {
  const key = Buffer.alloc(blockSize);
  key.set(secret.byteLength > blockSize ? createHash('sha256').update(secret).digest() : secret);
  const pad = (byte: number): Buffer => Buffer.from(key.map((each) => each ^ byte));
  return {
    inner: pad(0x36),
    outer: pad(0x5c),
    hash: (channel, address) => createHmac('sha256', secret).update(`${channel}:${address}`).digest(),
  };
}

/**
 * SQL: hash of a compared address; null without a key.
 *
 * @param inner SQL parameter with the inner key, bytea; `outer` with the outer one
 */
export function hashedAddress(channel: string, address: string, inner: string, outer: string): string {
  return `sha256(${outer}::bytea || sha256(${inner}::bytea || convert_to(${channel} || ':' || ${address}, 'UTF8')))`;
}

/** Hashed to distinguish keys; no channel has this name. */
const proofOf = { channel: 'key', address: 'proof' } as const;

/** SQL: whether the key matches, or no suppression is hashed. */
export function hashKeyMatches(inner: string, outer: string): string {
  const { channel, address } = proofOf;
  return `(NOT EXISTS (SELECT FROM hashed_suppressions)
    OR coalesce(${hashedAddress(`'${channel}'`, `'${address}'`, inner, outer)} = (SELECT proof FROM hash_key WHERE singleton), false))`;
}

export async function hasHashedSuppressions(client: Connection): Promise<boolean> {
  const { rows } = await client.query<{ some: boolean }>(
    'SELECT EXISTS (SELECT FROM hashed_suppressions) AS some',
  );
  return rows[0]?.some ?? false;
}

/**
 * Call this after reading suppressions, to notice those hashed in between.
 *
 * @throws InputError when suppressions are hashed with another key: then nothing may be sent
 */
export async function requireHashKey(client: Connection, key: HashKey | null): Promise<void> {
  const { rows } = await client.query<{ fits: boolean }>(`SELECT ${hashKeyMatches('$1', '$2')} AS fits`, [
    key?.inner ?? null,
    key?.outer ?? null,
  ]);
  if (rows[0]?.fits) return;
  const what =
    key === null
      ? 'Suppressed addresses are stored as hashes (volley purge), and their key is missing. Without it, Volley does not know which recipients are suppressed. Set VOLLEY_HASH_KEY to the key of the machine that purged, or VOLLEY_HOME to the folder with the key.'
      : 'Suppressed addresses were hashed (volley purge) with another key, so Volley does not know which recipients are suppressed. Set it to the key of the machine that purged.';
  throw new InputError([{ where: 'VOLLEY_HASH_KEY', what }]);
}

/** Stores the proof of the key unless there is one. @throws InputError for another key than before */
export async function storeHashKeyProof(client: Transaction, key: HashKey): Promise<void> {
  await client.query('INSERT INTO hash_key (proof) VALUES ($1) ON CONFLICT DO NOTHING', [
    key.hash(proofOf.channel, proofOf.address),
  ]);
  const { rows } = await client.query<{ proof: Buffer }>('SELECT proof FROM hash_key');
  if (rows[0]?.proof.equals(key.hash(proofOf.channel, proofOf.address))) return;
  const what =
    'Suppressed addresses were hashed with another key before. Set it to the key of the machine that purged.';
  throw new InputError([{ where: 'VOLLEY_HASH_KEY', what }]);
}
