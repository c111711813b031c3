import type { Account } from '../../gateway/account.ts';
import type { LookUp } from '../../gateway/look-up.ts';
import type { Doubt } from '../../ledger/requests/doubts.ts';
import type { EngineContext } from '../context.ts';
import { askAboutDoubts, type LookUpEnd, type LookUpService } from '../dispatch/ask-about-doubts.ts';
import { requireLookUp } from '../dispatch/require-look-up.ts';
import { type NamedRequests, openDoubts } from './resolve.ts';

/**
 * Asks the service once about each request in doubt that an operator names, and records at once which of them it has.
 *
 * @throws InputError as `openDoubts`, and when the account has no status look-up
 */
export async function lookUpDoubts(
  context: EngineContext,
  { account, ...service }: LookUpService & { readonly account: Account },
  requests: NamedRequests,
  stop: AbortSignal,
  onAnswer: (doubt: Doubt, answer: LookUp) => void,
): Promise<LookUpEnd> {
  requireLookUp(account);
  const doubts = { run: requests.run, pages: await openDoubts(context, requests) };
  return askAboutDoubts(context, service, doubts, stop, onAnswer);
}
