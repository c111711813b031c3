import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import type { SettledState, Settlement } from '../../ledger/requests/settle.ts';
import { type AccountBreaker, updateBreaker } from './account-breaker.ts';
import type { AddressCheck } from './address-check.ts';
import {
  type Attempt,
  type AttemptContext,
  describeOutcome,
  makeAttempt,
  withheldAttempt,
} from './attempt.ts';
import { nextStep, type Step, withholdingReason } from './next-step.ts';
import type { OutageRetry } from './outage-retry.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { type FileContents, toOutgoingRequest } from './run-files.ts';

export type Sender = AttemptContext & {
  readonly slice: number;
  readonly owner: string;
  readonly outageRetry: OutageRetry;
  readonly limiter: RateLimiter;
  /** Undefined for a run that does not wait for its service. */
  readonly breaker: AccountBreaker | undefined;
  readonly addressCheck: AddressCheck;
  readonly retries: number;
  readonly bisect: boolean;
  /** If false, `ensureLease` is called before each request. */
  readonly isLeaseValid: () => boolean;
  readonly ensureLease: () => Promise<boolean>;
  readonly isWindowOpen: () => boolean;
  /** Ends waits between attempts, but no request in flight. */
  readonly stop: AbortSignal;
};

export type PreparedRequest = {
  readonly claimed: ClaimedRequest;
  readonly contents: FileContents;
  /** The right to probe, for the first attempt. */
  readonly probe: string | undefined;
};

export type AttemptResult = { readonly attempt: Attempt; readonly step: Step };

/**
 * Makes one attempt, if allowed. The ledger already has the request as in flight.
 *
 * @param attempts number of this attempt since the claim, from 1
 */
export async function attemptOnce(
  sender: Sender,
  prepared: PreparedRequest,
  attempts: number,
): Promise<AttemptResult> {
  const { context, outageRetry, breaker, stop } = sender;
  const { claimed, contents } = prepared;
  const probe = attempts === 1 ? prepared.probe : undefined;
  const number = claimed.attempt + attempts - 1;
  // An answer during an outage would be in doubt if the process ended.
  if (outageRetry.isDown()) await outageRetry.waitUntilUp(stop);
  const held = stop.aborted || sender.isLeaseValid() || (await outageRetry.retry(sender.ensureLease));
  const because = withholdingReason({
    stopping: stop.aborted,
    held,
    windowOpen: sender.isWindowOpen(),
    breakerOpen: probe === undefined && isBreakerOpen(breaker),
  });
  const made =
    because === undefined
      ? await makeAttempt(sender, claimed, contents, number)
      : withheldAttempt(because, number, context.now());
  sender.addressCheck.answered(made.outcome, () =>
    sender.gateway.urlOf(toOutgoingRequest(sender.channel, claimed, contents)),
  );
  const changeInLedger = breaker && updateBreaker(breaker, made, probe);
  if (changeInLedger) await outageRetry.retry(changeInLedger);
  return { attempt: made, step: stepAfter(sender, claimed, made, attempts) };
}

export function stepAfter(
  { context, bisect, stop, breaker }: Sender,
  { destinations }: ClaimedRequest,
  made: Attempt,
  attempts: number,
): Step {
  return nextStep(made, {
    attempts,
    bisect,
    recipients: destinations.count,
    stopping: stop.aborted,
    breakerOpen: isBreakerOpen(breaker),
    random: context.random(),
  });
}

function isBreakerOpen(breaker: AccountBreaker | undefined): boolean {
  return breaker?.isOpen() === true;
}

export function settlementOf(
  { run, slice, owner }: Pick<Sender, 'run' | 'slice' | 'owner'>,
  { request }: ClaimedRequest,
  { number, outcome, httpStatus, finishedAt }: Attempt,
  as: SettledState,
): Settlement {
  const held = { run, slice, owner, request };
  return { ...held, ...as, attempt: number, finishedAt, httpStatus, detail: describeOutcome(outcome) };
}
