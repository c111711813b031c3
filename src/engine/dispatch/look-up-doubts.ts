import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { LookUp } from '../../gateway/look-up.ts';
import type { Doubt } from '../../ledger/requests/list-doubts.ts';
import { acceptLookedUp } from '../../ledger/requests/resolve.ts';
import type { EngineContext } from '../context.ts';
import type { RateLimiter } from './rate-limiter.ts';

export type LookUpCounts = {
  readonly found: number;
  /** Still in doubt: the service may not have processed it yet. */
  readonly notFound: number;
  /** No answer, or an unclear one. */
  readonly unclear: number;
};

export type LookUpEnd = LookUpCounts &
  (
    | { readonly kind: 'finished' | 'stopped' }
    /** The service refused the credential. */
    | { readonly kind: 'refused'; readonly words: readonly string[] }
  );

export type LookUpService = {
  readonly gateway: Gateway;
  readonly rate: Pick<RateLimiter, 'admitLookUp'>;
};

type Doubts = { readonly run: string; readonly pages: AsyncIterable<readonly Doubt[]> };

export type LookUpOptions = {
  readonly stop: AbortSignal;
  readonly onAnswer: (doubt: Doubt, answer: LookUp) => void;
};

export async function lookUpRequests(
  context: EngineContext,
  { gateway, rate }: LookUpService,
  { run, pages }: Doubts,
  { stop, onAnswer }: LookUpOptions,
): Promise<LookUpEnd> {
  const counts = { found: 0, notFound: 0, unclear: 0 };
  for await (const page of pages) {
    for (const doubt of page) {
      if (!(await rate.admitLookUp(stop))) return { kind: 'stopped', ...counts };
      // A stop drops the answer: a look-up changes nothing.
      const answer = await gateway.lookUp(doubt.messageId, stop);
      if (answer.kind === 'unclear' && stop.aborted) return { kind: 'stopped', ...counts };
      onAnswer(doubt, answer);
      switch (answer.kind) {
        case 'found':
          await acceptLookedUp(context.ledger.pool, { run, request: doubt.request, now: context.now() });
          counts.found++;
          break;
        case 'not_found':
          counts.notFound++;
          break;
        case 'unclear':
          counts.unclear++;
          break;
        case 'unauthorized':
          return { kind: 'refused', words: answer.words, ...counts };
      }
    }
  }
  return { kind: 'finished', ...counts };
}

/** @throws InputError if it has none */
export function requireLookUp({ name, interface: interfaceName, statusLookUp }: Account): void {
  if (statusLookUp) return;
  const what =
    interfaceName === 'rest-2.02'
      ? 'The account does not enable the status look-up. If the service supports it, set "statusLookUp: on".'
      : `${interfaceName} has no status look-up. Only a delivery report or an operator can settle the requests.`;
  throw new InputError([{ where: `account ${name}`, what }]);
}
