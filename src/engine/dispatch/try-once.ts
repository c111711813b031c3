import type { ClaimedRequest } from '../../ledger/requests/claimed.ts';
import type { Settled, Settlement } from '../../ledger/requests/settlement.ts';
import type { AccountBreaker } from './account-breaker.ts';
import { type Attempt, type Attempting, attempt, describe, withheld } from './attempt.ts';
import { nextStep, type Step, whyNotToSend } from './next-step.ts';
import type { Patience } from './patience.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { FileContents } from './run-files.ts';
import { tellBreaker } from './tell-breaker.ts';

export type Sender = Attempting & {
  readonly slice: number;
  readonly owner: string;
  readonly patience: Patience;
  readonly limiter: RateLimiter;
  /** Undefined for a run that does not wait while the service refuses everything. */
  readonly breaker: AccountBreaker | undefined;
  readonly retries: number;
  readonly bisect: boolean;
  /** Whether the slice is held for certain; else `stillHeld` is asked right before a request leaves. */
  readonly surelyHeld: () => boolean;
  readonly stillHeld: () => Promise<boolean>;
  /** Whether the window of the slice is open; asked right before a request leaves. */
  readonly mayLeave: () => boolean;
  /** Ends waits between attempts; a request that is on its way is not cut off by it. */
  readonly stop: AbortSignal;
};

export type Sending = {
  readonly claimed: ClaimedRequest;
  readonly contents: FileContents;
  /** Its right to try a service that refused everything, where it is to; for its first attempt. */
  readonly probe: string | undefined;
};

export type Tried = { readonly attempt: Attempt; readonly step: Step };

/**
 * Makes one attempt, where it may be made now. The ledger already says that it may be in flight.
 *
 * @param tries which it is since the request was claimed, from 1
 */
export async function tryOnce(sender: Sender, sending: Sending, tries: number): Promise<Tried> {
  const { context, patience, breaker, stop } = sender;
  const { claimed, contents } = sending;
  const probe = tries === 1 ? sending.probe : undefined;
  const number = claimed.attempt + tries - 1;
  // What is answered while the ledger is away would be in doubt if this process had to end.
  if (patience.isAway()) await patience.back(stop);
  const held = stop.aborted || sender.surelyHeld() || (await patience.persist(sender.stillHeld));
  const because = whyNotToSend({
    stopping: stop.aborted,
    held,
    windowOpen: sender.mayLeave(),
    refusesAll: probe === undefined && isOpen(breaker),
  });
  const made =
    because === undefined
      ? await attempt(sender, claimed, contents, number)
      : withheld(because, number, context.now());
  const tellOthers = breaker && tellBreaker(breaker, made, probe);
  if (tellOthers) await patience.persist(tellOthers);
  return { attempt: made, step: stepAfter(sender, claimed, made, tries) };
}

export function stepAfter(
  { context, retries, bisect, stop, breaker }: Sender,
  { destinations }: ClaimedRequest,
  made: Attempt,
  tries: number,
): Step {
  return nextStep(made, {
    ...{ tries, retries, bisect },
    recipients: destinations.count,
    stopping: stop.aborted,
    refusesAll: isOpen(breaker),
    random: context.random(),
  });
}

function isOpen(breaker: AccountBreaker | undefined): boolean {
  return breaker?.isOpen() === true;
}

export function settlementOf(
  { run, slice, owner }: Pick<Sender, 'run' | 'slice' | 'owner'>,
  { request }: ClaimedRequest,
  { number, outcome, httpStatus, finishedAt }: Attempt,
  as: Settled,
): Settlement {
  const held = { run, slice, owner, request };
  return { ...held, ...as, attempt: number, finishedAt, httpStatus, detail: describe(outcome) };
}
