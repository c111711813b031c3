import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { openGateway } from '../../gateway/gateway.ts';
import type { LookUp } from '../../gateway/look-up.ts';
import { type Doubt, listDoubts } from '../../ledger/requests/list-failed.ts';
import { acceptLookedUp, resendDoubts } from '../../ledger/requests/resolve.ts';
import type { DoubtsSlice } from '../../ledger/slices/acquire.ts';
import type { EngineContext } from '../context.ts';
import type { AccountRuntime } from './account-runtime.ts';
import type { DispatchSettings } from './dispatch-settings.ts';
import type { OutageRetry } from './outage-retry.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';

export type LookUpCounts = {
  readonly found: number;
  /** Still in doubt: the service may not have processed it yet. */
  readonly notFound: number;
  /** No answer, or an unclear one. */
  readonly unclear: number;
};

export const noneLookedUp: LookUpCounts = { found: 0, notFound: 0, unclear: 0 };

export type LookUpEnd = LookUpCounts &
  (
    | { readonly kind: 'finished' | 'stopped' }
    | { readonly kind: 'refused'; readonly words: readonly string[] }
  );

/** What an account is asked with. */
export type LookUpService = Pick<AccountRuntime, 'account' | 'gateway'> & {
  readonly rate: Pick<RateLimiter, 'admitLookUp'>;
};

/** Opens a gateway of the account for as long as it is used. */
export async function withLookUp<Result>(
  context: EngineContext,
  account: Account,
  use: (service: LookUpService) => Promise<Result>,
): Promise<Result> {
  const gateway = openGateway(account);
  try {
    return await use({ account, gateway, rate: createRateLimiter(context, account) });
  } finally {
    await gateway.close();
  }
}

type Doubts = { readonly run: string; readonly pages: AsyncIterable<readonly Doubt[]> };

export type LookUpOptions = {
  readonly stop: AbortSignal;
  readonly onAnswer: (doubt: Doubt, answer: LookUp, counts: LookUpCounts) => void;
};

/** @throws InputError without a status look-up */
export async function lookUpRequests(
  context: EngineContext,
  { account, gateway, rate }: LookUpService,
  { run, pages }: Doubts,
  { stop, onAnswer }: LookUpOptions,
): Promise<LookUpEnd> {
  requireLookUp(account);
  const counts = { ...noneLookedUp };
  for await (const page of pages) {
    for (const doubt of page) {
      if (!(await rate.admitLookUp(stop))) return { kind: 'stopped', ...counts };
      // A stop drops the answer: a look-up changes nothing.
      const answer = await gateway.lookUp(doubt.messageId, stop);
      if (answer.kind === 'unclear' && stop.aborted) return { kind: 'stopped', ...counts };
      if (answer.kind === 'found') {
        await acceptLookedUp(context.ledger.pool, { run, request: doubt.request, now: context.now() });
        counts.found++;
      }
      if (answer.kind === 'not_found') counts.notFound++;
      if (answer.kind === 'unclear') counts.unclear++;
      onAnswer(doubt, answer, { ...counts });
      if (answer.kind === 'unauthorized') return { kind: 'refused', words: answer.words, ...counts };
    }
  }
  return { kind: 'finished', ...counts };
}

export function requireLookUp({ name, interface: interfaceName, statusLookUp }: Account): void {
  if (statusLookUp) return;
  const what =
    interfaceName === 'rest-2.02'
      ? 'The account does not enable the status look-up. If the service supports it, set "statusLookUp: on".'
      : `${interfaceName} has no status look-up. Only a delivery report or an operator can settle the requests.`;
  throw new InputError([{ where: `account ${name}`, what }]);
}

type DoubtWork = Pick<AccountRuntime, 'account' | 'gateway' | 'limiter'> & {
  readonly context: EngineContext;
  readonly outageRetry: OutageRetry;
  readonly slice: DoubtsSlice;
  readonly settings: Pick<DispatchSettings, 'policy'>;
  readonly stop: AbortSignal;
};

/**
 * Looks up requests in doubt if the account can, then sends them again if the campaign allows it. The rest waits for
 * a delivery report or an operator.
 */
export async function settleDoubts(work: DoubtWork): Promise<void> {
  const { context, outageRetry, slice, settings, stop } = work;
  const { run, owner } = slice;
  const { lookUp, resends } = settings.policy;
  if (lookUp) await lookUpAll(work);
  if (stop.aborted || resends === 0) return;
  await outageRetry.retry(() => resendDoubts(context.ledger.pool, { run, owner, resends }, context.now()));
}

/** Milliseconds. At one look-up a second, `volley resolve --look-up` must do the rest. */
const maxLookUpTime = 10 * 60_000;

async function lookUpAll(work: DoubtWork): Promise<void> {
  const { context, outageRetry, stop } = work;
  const { run } = work.slice;
  const service = { ...work, rate: work.limiter };
  const long = new AbortController();
  const timer = setTimeout(() => long.abort(), maxLookUpTime);
  const until = AbortSignal.any([stop, long.signal]);
  try {
    await outageRetry.retry(() => {
      const doubts = { run, pages: listDoubts(context.ledger.pool, run, 'all') };
      return lookUpRequests(context, service, doubts, { stop: until, onAnswer: () => undefined });
    });
  } finally {
    clearTimeout(timer);
  }
}
