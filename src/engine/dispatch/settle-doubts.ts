import type { Account } from '../../gateway/account.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { listDoubts } from '../../ledger/requests/list-doubts.ts';
import { resendDoubts } from '../../ledger/requests/resolve.ts';
import type { DoubtsSlice } from '../../ledger/slices/acquire.ts';
import type { DoubtPolicy } from '../../ledger/slices/finish.ts';
import type { EngineContext } from '../context.ts';
import { lookUpRequests, requireLookUp } from './look-up-doubts.ts';
import type { OutageRetry } from './outage-retry.ts';
import type { RateLimiter } from './rate-limiter.ts';

type DoubtWork = {
  readonly context: EngineContext;
  readonly outageRetry: OutageRetry;
  readonly slice: DoubtsSlice;
  readonly account: Account;
  readonly gateway: Gateway;
  readonly limiter: RateLimiter;
  readonly policy: DoubtPolicy;
  readonly stop: AbortSignal;
};

/**
 * Looks up requests in doubt if the account can, then sends them again if the campaign allows it. The rest waits for
 * a delivery report or an operator.
 */
export async function settleDoubts(work: DoubtWork): Promise<void> {
  const { context, outageRetry, slice, policy, stop } = work;
  const { run, owner } = slice;
  if (policy.lookUp) await lookUp(work);
  if (stop.aborted || policy.resends === 0) return;
  await outageRetry.retry(() =>
    resendDoubts(context.ledger.pool, { run, owner, resends: policy.resends }, context.now()),
  );
}

/** Milliseconds. At one look-up a second, `volley resolve --look-up` must do the rest. */
const maxLookUpTime = 10 * 60_000;

async function lookUp({
  context,
  outageRetry,
  slice,
  account,
  gateway,
  limiter,
  stop,
}: DoubtWork): Promise<void> {
  requireLookUp(account);
  const long = new AbortController();
  const timer = setTimeout(() => long.abort(), maxLookUpTime);
  const until = AbortSignal.any([stop, long.signal]);
  const service = { gateway, rate: limiter };
  const { run } = slice;
  try {
    await outageRetry.retry(() => {
      const doubts = { run, pages: listDoubts(context.ledger.pool, run, 'all') };
      return lookUpRequests(context, service, doubts, { stop: until, onAnswer: () => undefined });
    });
  } finally {
    clearTimeout(timer);
  }
}
