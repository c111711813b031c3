import { InputError } from '../../domain/problems.ts';
import { inTransaction } from '../../ledger/session.ts';
import {
  addSession,
  countOpenSessions,
  findSessions,
  listSessionsOf,
  recordSessionUse,
  removeSession,
  removeSessionOf,
  type SessionLimits,
} from '../../ledger/tokens/sessions.ts';
import type { Token } from '../../ledger/tokens/tokens.ts';
import { digestOf } from '../../platform/digest.ts';
import { auditEntry } from '../audit.ts';
import { coalesce } from '../coalesce.ts';
import type { EngineContext } from '../context.ts';
import { sharedQuery } from './tokens.ts';

/** Milliseconds. Open pages that only follow a run are no use. */
const sessionIdleTime = 2 * 3_600_000;
export const sessionMaxAge = 12 * 3_600_000;
const useRecordInterval = 60_000;

const size = 32;
const idPattern = new RegExp(`^[0-9a-f]{${2 * size}}$`);

function limitsAt(now: Date): SessionLimits {
  const before = (milliseconds: number): Date => new Date(now.getTime() - milliseconds);
  return { now, createdSince: before(sessionMaxAge), usedSince: before(sessionIdleTime) };
}

/** Who signs in, and with which token. */
export type SignedIn = {
  /** The name of a valid one. */
  readonly token: string;
  /** By the company's identity provider; undefined: the owner of the token. */
  readonly person?: string | null;
};

/** @returns the session's id, which is a secret */
export async function openSession(
  { ledger, now, randomBytes }: EngineContext,
  { token, person = null }: SignedIn,
): Promise<string> {
  const id = randomBytes(size).toString('hex');
  const createdAt = now();
  await addSession(ledger.pool, { sha256: digestOf(id), token, person, createdAt }, limitsAt(createdAt));
  return id;
}

/**
 * Reads the ledger every time, as the check of tokens does.
 *
 * @returns the token with which a session was opened; undefined if the session or the token has ended
 */
export function createSessionCheck({
  ledger,
  now,
}: EngineContext): (id: string) => Promise<Token | undefined> {
  const find = coalesce(async (sha256s: readonly Buffer[]) => {
    const found = await findSessions(ledger.pool, sha256s, limitsAt(now()));
    return sha256s.map((asked) => found.find(({ sha256 }) => sha256.equals(asked)));
  }, sharedQuery);
  return async (id) => {
    if (!idPattern.test(id)) return undefined;
    const [sha256, time] = [digestOf(id), now()];
    const found = await find(sha256);
    if (!found) return undefined;
    if (time.getTime() - found.usedAt.getTime() >= useRecordInterval)
      await recordSessionUse(ledger.pool, sha256, time);
    return found.token;
  };
}

/** Returns those that have ended. */
export async function findEndedSessions(
  { ledger, now }: EngineContext,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const digests = new Map(ids.map((id) => [digestOf(id).toString('hex'), id]));
  const sha256s = [...digests.keys()].map((digest) => Buffer.from(digest, 'hex'));
  for (const { sha256 } of await findSessions(ledger.pool, sha256s, limitsAt(now())))
    digests.delete(sha256.toString('hex'));
  return new Set(digests.values());
}

/** Sessions of the dashboard that were opened with a token, and that end with it. */
export async function countSessionsOf({ ledger, now }: EngineContext, token: string): Promise<number> {
  return countOpenSessions(ledger.pool, token, limitsAt(now()));
}

/** @returns whether its person signed in with the company's identity provider */
export async function closeSession({ ledger }: EngineContext, id: string): Promise<boolean> {
  return idPattern.test(id) && removeSession(ledger.pool, digestOf(id));
}

/** The key of a session in lists: the digest of its id, which opens nothing. */
export function sessionKey(id: string): string {
  return digestOf(id).toString('hex');
}

export type OwnSession = Awaited<ReturnType<typeof listOwnSessions>>[number];

/** Lists sessions of the actor with all their tokens; the last used first. */
export async function listOwnSessions({ ledger, actor, now }: EngineContext) {
  const found = await listSessionsOf(ledger.pool, actor.name, limitsAt(now()));
  return found.map(({ sha256, ...session }) => ({ ...session, key: sha256.toString('hex') }));
}

/**
 * @returns the name of its token
 * @throws InputError when the actor has no such session
 */
export async function endOwnSession(context: EngineContext, key: string): Promise<string> {
  const { ledger, actor } = context;
  return inTransaction(ledger.pool, async (client) => {
    const token = await removeSessionOf(client, actor.name, Buffer.from(key, 'hex'));
    if (token === undefined) throw new InputError([{ where: 'session', what: 'It has ended already.' }]);
    await auditEntry(context, { action: 'session ended', subject: token })(client);
    return token;
  });
}
