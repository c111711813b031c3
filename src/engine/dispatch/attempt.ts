import type { Channel, SendRequest } from '../../domain/message.ts';
import type { Evidence } from '../../gateway/evidence.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Verdict } from '../../gateway/verdict.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim.ts';
import type { EngineContext } from '../context.ts';
import { pass } from '../points.ts';
import { type FileContents, toSendRequest } from './run-files.ts';

/** A verdict, or that the interface cannot express the request, so that no byte of it left. */
export type Outcome = Verdict | { readonly kind: 'unsendable'; readonly reason: string };

export type Attempt = {
  readonly number: number;
  readonly outcome: Outcome;
  readonly httpStatus: number | null;
  readonly finishedAt: Date;
};

export type Attempting = {
  readonly context: EngineContext;
  readonly gateway: Gateway;
  readonly run: string;
  readonly channel: Channel;
  /** Gives up on answers that have not come: the process has to end. */
  readonly cutOff: AbortSignal;
};

/** One exchange with the service. */
export async function attempt(
  { gateway, context, run, channel, cutOff }: Attempting,
  claimed: ClaimedRequest,
  contents: FileContents,
  number: number,
): Promise<Attempt> {
  pass('sending', run, claimed.request);
  const exchange = startExchange(gateway, () => toSendRequest(channel, claimed, contents), cutOff);
  if (exchange.kind === 'unsendable') {
    return { number, outcome: exchange, httpStatus: null, finishedAt: context.now() };
  }
  const evidence = await exchange.evidence;
  pass('answered', run, claimed.request);
  return {
    number,
    outcome: gateway.judge(evidence, claimed.messageId),
    httpStatus: evidence.kind === 'not_sent' ? null : (evidence.status ?? null),
    finishedAt: context.now(),
  };
}

type Exchange =
  | { readonly kind: 'started'; readonly evidence: Promise<Evidence> }
  | { readonly kind: 'unsendable'; readonly reason: string };

/** Both throw before any byte leaves: for a file that is missing, and a request that the interface cannot express. */
function startExchange(gateway: Gateway, make: () => SendRequest, cutOff: AbortSignal): Exchange {
  try {
    return { kind: 'started', evidence: gateway.send(make(), cutOff) };
  } catch (error) {
    return { kind: 'unsendable', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** What is kept of an outcome: the service's own words, or what went wrong. */
export function describe(outcome: Outcome): string | null {
  switch (outcome.kind) {
    case 'accepted':
      return outcome.job === undefined ? null : `job ${outcome.job}`;
    case 'rejected':
    case 'unauthorized':
      return outcome.words.join('; ');
    case 'unsendable':
    case 'retry':
    case 'in_doubt':
      return outcome.reason;
  }
}
