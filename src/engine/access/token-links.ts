import { inTransaction } from '../../ledger/session.ts';
import {
  findTokenOfLink,
  recordTokenLinkUse,
  type Token,
  type TokenState,
  tokenStateOf,
} from '../../ledger/tokens/tokens.ts';
import { digestOf } from '../../platform/digest.ts';
import { auditEntry } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { addNewToken, type NewTokenRequest, newTokenText } from './tokens.ts';

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
  // Until the link is used, no person has the text of the token.
  await addNewToken(context, request, newTokenText(context), { sha256: digestOf(secret), expiresAt });
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
