import { setTokenExpiry } from '../../ledger/tokens/tokens.ts';
import type { EngineContext } from '../context.ts';
import { createToken, type NewTokenRequest, revokeToken } from './tokens.ts';

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
