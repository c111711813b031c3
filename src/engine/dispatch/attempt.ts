import type { Channel } from '../../domain/message.ts';
import type { RequestReason, WithheldCause } from '../../domain/reasons.ts';
import type { Evidence } from '../../gateway/evidence.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Verdict } from '../../gateway/verdict.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import type { EngineContext } from '../context.ts';
import { trace } from '../trace-points.ts';
import { type FileContents, toOutgoingRequest } from './run-files.ts';

export type Outcome =
  | Verdict
  /** Nothing was sent: the interface cannot express it, or a file is missing. */
  | { readonly kind: 'unsendable'; readonly reason: string }
  /** Nothing was sent. */
  | { readonly kind: 'withheld'; readonly because: WithheldCause };

export type Attempt = {
  readonly number: number;
  readonly outcome: Outcome;
  readonly httpStatus: number | null;
  readonly startedAt: Date;
  readonly finishedAt: Date;
};

export type AttemptContext = {
  readonly context: EngineContext;
  readonly gateway: Gateway;
  readonly run: string;
  readonly channel: Channel;
  /** Stops waiting for answers. */
  readonly cutOff: AbortSignal;
};

export async function makeAttempt(
  { gateway, context, run, channel, cutOff }: AttemptContext,
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
    const reason = error instanceof Error ? error.message : String(error);
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
