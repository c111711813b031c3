import type { RequestReason, WithheldCause } from '../../domain/reasons.ts';
import type { Account } from '../../gateway/account.ts';
import type { Evidence } from '../../gateway/evidence.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import type { SettledState, Settlement } from '../../ledger/requests/settle.ts';
import type { OwnedSlice } from '../../ledger/slice-states/transitions.ts';
import type { SendingSlice } from '../../ledger/slices/acquire.ts';
import { errorMessage } from '../../platform/file-error.ts';
import type { EngineContext } from '../context.ts';
import { trace } from '../trace-points.ts';
import { type AccountBreaker, updateBreaker } from './account-breaker.ts';
import type { AccountRuntime } from './account-runtime.ts';
import type { AddressCheck } from './address-check.ts';
import type { DispatchSettings } from './dispatch-settings.ts';
import type { Lease } from './lease.ts';
import { type Attempt, nextStep, type Outcome, released, type Step, withholdingReason } from './next-step.ts';
import type { Observer } from './observer.ts';
import type { OutageRetry } from './outage-retry.ts';
import { type FileContents, toOutgoingRequest } from './run-files.ts';

/** How the requests of one slice are sent. */
export type Sender = Pick<AccountRuntime, 'gateway' | 'limiter'> & {
  readonly context: EngineContext;
  readonly outageRetry: OutageRetry;
  readonly slice: Pick<SendingSlice, 'run' | 'slice' | 'owner' | 'channel'>;
  readonly settings: Pick<DispatchSettings, 'retries' | 'bisect'>;
  readonly account: Pick<Account, 'name'>;
  readonly observer: Partial<Observer>;
  /** Undefined for a run that does not wait for its service. */
  readonly breaker: AccountBreaker | undefined;
  readonly addressCheck: AddressCheck;
  readonly lease: Pick<Lease, 'isValid' | 'ensureValid'>;
  readonly isWindowOpen: () => boolean;
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
  const { lease } = sender;
  const held = stop.aborted || lease.isValid() || (await outageRetry.retry(lease.ensureValid));
  const because = withholdingReason({
    stopping: stop.aborted,
    held,
    windowOpen: sender.isWindowOpen(),
    breakerOpen: probe === undefined && isBreakerOpen(breaker),
  });
  const made =
    because === undefined
      ? await makeAttempt(sender, claimed, contents, number)
      : unsentAttempt({ kind: 'withheld', because }, number, context.now());
  sender.addressCheck.answered(made.outcome, () =>
    sender.gateway.urlOf(toOutgoingRequest(sender.slice.channel, claimed, contents)),
  );
  const changeInLedger = breaker && updateBreaker(breaker, made, probe);
  if (changeInLedger) await outageRetry.retry(changeInLedger);
  return { attempt: made, step: stepAfter(sender, claimed, made, attempts) };
}

export function stepAfter(
  { context, settings, stop, breaker }: Sender,
  { destinations }: ClaimedRequest,
  made: Attempt,
  attempts: number,
): Step {
  return nextStep(made, {
    attempts,
    bisect: settings.bisect,
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
  { run, slice, owner }: OwnedSlice,
  { request }: ClaimedRequest,
  { number, outcome, httpStatus, finishedAt }: Attempt,
  as: SettledState,
): Settlement {
  const held = { run, slice, owner, request };
  return { ...held, ...as, attempt: number, finishedAt, httpStatus, detail: describeOutcome(outcome) };
}

async function makeAttempt(
  { gateway, context, slice: { run, channel }, account, observer, cutOff }: Sender,
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
  const exchangeEnded = observer.exchangeStarted?.(account.name);
  const evidence = await exchange;
  exchangeEnded?.();
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

/** Of a claimed request of which no byte has left. */
export function releaseOf(
  slice: OwnedSlice,
  claimed: ClaimedRequest,
  because: WithheldCause,
  now: Date,
): Settlement {
  const attempt = unsentAttempt({ kind: 'withheld', because }, claimed.attempt, now);
  return settlementOf(slice, claimed, attempt, released);
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
