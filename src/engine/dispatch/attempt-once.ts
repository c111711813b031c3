import type { Channel } from '../../domain/message.ts';
import type { RequestReason, WithheldCause } from '../../domain/reasons.ts';
import type { Evidence } from '../../gateway/evidence.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import type { SettledState, Settlement } from '../../ledger/requests/settle.ts';
import { errorMessage } from '../../platform/file-error.ts';
import type { EngineContext } from '../context.ts';
import { trace } from '../trace-points.ts';
import { type AccountBreaker, updateBreaker } from './account-breaker.ts';
import type { AddressCheck } from './address-check.ts';
import { type Attempt, nextStep, type Outcome, type Step, withholdingReason } from './next-step.ts';
import type { OutageRetry } from './outage-retry.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { type FileContents, toOutgoingRequest } from './run-files.ts';

/** How the requests of one slice are sent. */
export type Sender = {
  readonly context: EngineContext;
  readonly run: string;
  readonly slice: number;
  readonly owner: string;
  readonly channel: Channel;
  readonly gateway: Gateway;
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
  /** Asked while the breaker is open. @returns whether the slice stops, because the service refuses all for too long */
  readonly giveUpIfRefused: () => Promise<boolean>;
  /** Ends waits between attempts, but no request in flight. */
  readonly stop: AbortSignal;
  /** Stops waiting for answers. */
  readonly cutOff: AbortSignal;
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

async function makeAttempt(
  { gateway, context, run, channel, cutOff }: Sender,
  claimed: ClaimedRequest,
  contents: FileContents,
  number: number,
): Promise<Attempt> {
  trace('sending', run, claimed.request);
  const startedAt = context.now();
  let exchange: Promise<Evidence>;
  // Both throw only before a byte leaves.
  try {
    exchange = gateway.send(toOutgoingRequest(channel, claimed, contents), cutOff);
  } catch (error) {
    const reason = errorMessage(error);
    return unsentAttempt({ kind: 'unsendable', reason }, number, context.now());
  }
  const evidence = await exchange;
  trace('answered', run, claimed.request);
  return {
    number,
    outcome: gateway.classify(evidence, claimed.messageId),
    httpStatus: evidence.kind === 'not_sent' ? null : (evidence.status ?? null),
    startedAt,
    finishedAt: context.now(),
  };
}

function unsentAttempt(
  outcome: Extract<Outcome, { kind: 'unsendable' | 'withheld' }>,
  number: number,
  finishedAt: Date,
): Attempt {
  return { number, outcome, httpStatus: null, startedAt: finishedAt, finishedAt };
}

export function withheldAttempt(because: WithheldCause, number: number, now: Date): Attempt {
  return unsentAttempt({ kind: 'withheld', because }, number, now);
}

/** Returns the service's own words, or what failed. */
export function describeOutcome(outcome: Outcome): RequestReason | null {
  switch (outcome.kind) {
    case 'accepted':
      return outcome.jobNumber === undefined ? null : { kind: 'job_number', jobNumber: outcome.jobNumber };
    case 'rejected':
    case 'unauthorized':
      return outcome.words.join('; ');
    case 'withheld':
      return outcome;
    case 'unsendable':
    case 'retry':
    case 'in_doubt':
      return outcome.reason;
  }
}
