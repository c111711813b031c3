import { type TokenScope, tokenScopes } from '../../domain/access.ts';
import { InputError } from '../../domain/problems.ts';
import { inTransaction } from '../../ledger/session.ts';
import {
  addToken,
  findTokenOfLink,
  findTokens,
  type NewToken,
  recordTokenLinkUse,
  recordTokenUse,
  revokeToken as revokeNamed,
  setTokenExpiry,
  type Token,
  type TokenState,
  tokenStateOf,
} from '../../ledger/tokens/tokens.ts';
import { digestOf, matchesDigest } from '../../platform/digest.ts';
import { auditEntry, audited } from '../audit.ts';
import { coalesce } from '../coalesce.ts';
import type { EngineContext } from '../context.ts';

/** Recognised by people and secret scanners. */
const prefix = 'volley_';
const size = 24;
const tokenPattern = new RegExp(`^${prefix}[0-9a-f]{${2 * size}}$`);

export type NewTokenRequest = Pick<Token, 'name' | 'owner' | 'scope' | 'accounts' | 'expiresAt'>;

function newTokenText({ randomBytes }: Pick<EngineContext, 'randomBytes'>): string {
  return prefix + randomBytes(size).toString('hex');
}

/**
 * The ledger keeps only its SHA-256, and the actor as its maker.
 *
 * @param owner may not approve runs planned with the token
 * @param accounts it may use; null for all
 * @param link with which its person gets it; until it is used, no person has the text
 * @throws InputError when the name was used before
 */
export async function createToken(
  context: EngineContext,
  request: NewTokenRequest,
  link?: NewToken['link'],
): Promise<string> {
  const text = newTokenText(context);
  const { name, owner, scope, accounts, expiresAt } = request;
  const entry = {
    action: 'token created',
    subject: name,
    details: { owner, scope, accounts, expiresAt, ...(link && { linkExpiresAt: link.expiresAt }) },
  } as const;
  await audited(context, entry, (addAuditEntry) =>
    inTransaction(context.ledger.pool, async (client) => {
      const token = { ...request, maker: context.actor, createdAt: context.now() };
      if (!(await addToken(client, { ...token, sha256: digestOf(text), link }))) {
        const what =
          'A token of this name exists or existed. Choose another name, so that the audit trail is unambiguous.';
        throw new InputError([{ where: `token ${name}`, what }]);
      }
      await addAuditEntry(client);
    }),
  );
  return text;
}

/** @throws InputError when the token is missing or already revoked */
export async function revokeToken(context: EngineContext, name: string, reason?: string): Promise<void> {
  const event = { action: 'token revoked', subject: name, ...(reason && { details: { reason } }) } as const;
  await audited(context, event, (addAuditEntry) =>
    inTransaction(context.ledger.pool, async (client) => {
      const end = await revokeNamed(client, name, context.now());
      const refuse = (what: string): never => {
        throw new InputError([{ where: `token ${name}`, what }]);
      };
      if (end === undefined) refuse('There is no such token; `volley token list` lists them.');
      if (end === 'revoked before') refuse('It was revoked already.');
      await addAuditEntry(client);
    }),
  );
}

export type TokenCheck =
  | { readonly kind: 'valid'; readonly token: Token }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'expired' | 'revoked'; readonly token: Token };

/** Minimum time between recorded uses (milliseconds). */
const useRecordInterval = 60_000;

/** Many calls at once would otherwise take all connections of the ledger from those of other callers. */
export const sharedQuery = { maxBatch: 256, busyThreshold: 16 };

/** Reads the ledger every time, so a revocation applies at once. Calls that come together share a query. */
export function createTokenCheck({ ledger, now }: EngineContext): (given: string) => Promise<TokenCheck> {
  const find = coalesce(async (sha256s: readonly Buffer[]) => {
    const found = await findTokens(ledger.pool, sha256s);
    return sha256s.map((asked) => found.find(({ sha256 }) => sha256.equals(asked)));
  }, sharedQuery);
  const recordedAt = new Map<string, number>();
  return async (given) => {
    // Other texts cost no query.
    if (!tokenPattern.test(given)) return { kind: 'unknown' };
    const found = await find(digestOf(given));
    if (!found || !matchesDigest(given, found.sha256)) return { kind: 'unknown' };
    const { sha256: _, ...token } = found;
    const time = now();
    const state = tokenStateOf(token, time);
    if (state === 'revoked' || state === 'expired') return { kind: state, token };
    if ((recordedAt.get(token.name) ?? Number.NEGATIVE_INFINITY) <= time.getTime() - useRecordInterval) {
      recordedAt.set(token.name, time.getTime());
      await recordTokenUse(ledger.pool, token.name, time, new Date(time.getTime() - useRecordInterval));
    }
    return { kind: 'valid', token };
  };
}

export function isForAccount({ accounts }: Pick<Token, 'accounts'>, account: string): boolean {
  return accounts === null || accounts.includes(account);
}

export function allows(scope: TokenScope, needed: TokenScope): boolean {
  return tokenScopes.indexOf(scope) >= tokenScopes.indexOf(needed);
}

/** Milliseconds. */
export const renewedTokenLifetime = 120_000;

/**
 * Makes a token that is valid while this process runs: it expires soon, and is renewed until then. After a kill no
 * process renews it, and the sessions opened with it end too.
 *
 * @param lifetime milliseconds; a quarter of it passes between renewals
 */
export async function openRenewedToken(
  context: EngineContext,
  request: Omit<NewTokenRequest, 'expiresAt'>,
  lifetime: number = renewedTokenLifetime,
): Promise<{ readonly revoke: () => Promise<void> }> {
  const expiry = (): Date => new Date(context.now().getTime() + lifetime);
  await createToken(context, { ...request, expiresAt: expiry() });
  let renewal = Promise.resolve();
  const timer = setInterval(() => {
    // A later renewal makes up for one that failed.
    renewal = setTokenExpiry(context.ledger.pool, request.name, expiry()).catch(() => undefined);
  }, lifetime / 4);
  return {
    revoke: async () => {
      clearInterval(timer);
      await renewal;
      await revokeToken(context, request.name);
    },
  };
}

/** Milliseconds. */
const linkLifetime = 24 * 3_600_000;

/** 32 bytes. */
const secretPattern = /^[0-9a-f]{64}$/;

/**
 * Makes a token for a person, who gets it by a link: its maker never sees it. The ledger keeps only the SHA-256 of the
 * link's secret.
 *
 * @throws InputError when the name was used before
 */
export async function createTokenLink(
  context: EngineContext,
  request: NewTokenRequest,
): Promise<{ readonly secret: string; readonly expiresAt: Date }> {
  const secret = context.randomBytes(32).toString('hex');
  const expiresAt = new Date(context.now().getTime() + linkLifetime);
  await createToken(context, request, { sha256: digestOf(secret), expiresAt });
  return { secret, expiresAt };
}

export type TokenLink = {
  readonly state: TokenState | 'used';
  readonly token: Token;
  /** Of the token, if the link was used up now. */
  readonly text?: string;
};

/** Finds a link by its secret. @param use uses an open one up: of callers at once, one gets the text of the token */
export async function openTokenLink(
  context: EngineContext,
  secret: string,
  use: boolean,
): Promise<TokenLink | undefined> {
  if (!secretPattern.test(secret)) return undefined;
  const [now, text] = [context.now(), newTokenText(context)];
  return inTransaction(context.ledger.pool, async (client) => {
    const token = await findTokenOfLink(client, digestOf(secret));
    if (!token) return undefined;
    const state = token.linkUsedAt ? 'used' : tokenStateOf(token, now);
    if (state !== 'link open' || !use) return { token, state };
    const { name, owner } = token;
    await recordTokenLinkUse(client, name, digestOf(text), now);
    const actor = { name: owner, via: 'dashboard', token: name } as const;
    await auditEntry({ ...context, actor }, { action: 'token link used', subject: name })(client);
    return { token, state, text };
  });
}
