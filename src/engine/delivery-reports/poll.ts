import { comparedServiceAddress } from '../../domain/compared-address.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { InconclusiveLookUp } from '../../gateway/look-up.ts';
import { listPollable, type PollableRequest, recordPoll } from '../../ledger/delivery-reports/missing.ts';
import { type ReceivedCall, receiveDeliveryReports } from '../../ledger/delivery-reports/receive.ts';
import { decodeDeliveryReport } from '../../wire/delivery-report.ts';
import type { EngineContext } from '../context.ts';
import { type LookUpService, requireLookUp } from '../dispatch/look-up-doubts.ts';

/** Automatic polling ends after this (docs/reference/interfaces.md, "Status look-up"). Milliseconds. */
export const maxPollAge = 6 * 3_600_000;

/** The time between two polls of a request (milliseconds). */
const pollInterval = 10 * 60_000;

/** A batch takes a minute, at one look-up a second. */
const batchSize = 50;

export type PollCounts = {
  readonly asked: number;
  readonly reports: number;
  readonly unclear: number;
};

export type PollEnd = PollCounts &
  (
    | { readonly kind: 'finished' | 'stopped' }
    /** The service refused the credential. */
    | { readonly kind: 'refused'; readonly words: readonly string[] }
  );

type PollWork = LookUpService & {
  readonly run?: string;
  /** Skips requests accepted longer ago (milliseconds). */
  readonly acceptedWithin: number;
  /** Skips requests accepted more recently: reports may still arrive (milliseconds). */
  readonly acceptedFor?: number;
};

/**
 * Asks the service about missing delivery reports: one look-up a second over all processes, one per request in ten
 * minutes. Answers go to the inbox.
 *
 * @throws InputError without a status look-up
 */
export async function pollReports(
  context: EngineContext,
  { account, gateway, rate, run, acceptedWithin, acceptedFor = 0 }: PollWork,
  stop: AbortSignal,
  {
    onUnclear,
    onCount = () => undefined,
  }: {
    readonly onUnclear: (messageId: string, answer: InconclusiveLookUp) => void;
    readonly onCount?: ((counts: PollCounts) => void) | undefined;
  },
): Promise<PollEnd> {
  requireLookUp(account);
  const { pool } = context.ledger;
  const counts = { asked: 0, reports: 0, unclear: 0 };
  for (;;) {
    const now = context.now();
    const pollable = await listPollable(
      pool,
      {
        account: account.name,
        run,
        acceptedFrom: new Date(now.getTime() - acceptedWithin),
        acceptedUntil: new Date(now.getTime() - acceptedFor),
        notPolledSince: new Date(now.getTime() - pollInterval),
      },
      batchSize,
    );
    if (pollable.length === 0) return { kind: 'finished', ...counts };
    for (const request of pollable) {
      const answer = await lookUpAllPages(gateway, rate, request, stop);
      if (answer.kind === 'stopped') return { kind: 'stopped', ...counts };
      await recordPoll(pool, request, context.now());
      counts.asked++;
      if (answer.kind === 'unauthorized') return { kind: 'refused', words: answer.words, ...counts };
      if (answer.kind === 'unclear') {
        counts.unclear++;
        onUnclear(request.messageId, answer);
      }
      if (answer.kind === 'found') {
        const reports = toReceivedReports(answer.recipients, request, account.name, context.now());
        if (reports.length > 0) await receiveDeliveryReports(pool, context.randomUuid(), reports);
        counts.reports += reports.length;
      }
      onCount({ ...counts });
    }
  }
}

type Recipients = readonly Readonly<Record<string, string>>[];

type PollAnswer =
  | { readonly kind: 'found'; readonly recipients: Recipients }
  | { readonly kind: 'not_found' | 'stopped' }
  | { readonly kind: 'unauthorized'; readonly words: readonly string[] }
  | InconclusiveLookUp;

/** Does not wait for an answer on stop: asking changes nothing. */
async function lookUpAllPages(
  gateway: Gateway,
  rate: PollWork['rate'],
  { messageId }: PollableRequest,
  stop: AbortSignal,
): Promise<PollAnswer> {
  const recipients: Readonly<Record<string, string>>[] = [];
  for (let page = 1; page <= maxPages; page++) {
    if (!(await rate.admitLookUp(stop))) return { kind: 'stopped' };
    const answer = await gateway.lookUp(messageId, stop, page);
    if (stop.aborted && answer.kind === 'unclear') return { kind: 'stopped' };
    if (answer.kind !== 'found') return answer;
    recipients.push(...answer.recipients);
    if (page >= answer.pages || answer.recipients.length === 0) break;
  }
  return { kind: 'found', recipients };
}

/** A request has at most 5,000 recipients. */
const maxPages = 50;

/** Keeps the final outcomes of recipients whose delivery reports are missing. */
function toReceivedReports(
  recipients: Recipients,
  { messageId, missing }: PollableRequest,
  account: string,
  receivedAt: Date,
): ReceivedCall[] {
  const wanted = new Set(missing.map(comparedServiceAddress));
  return recipients.flatMap((recipient): ReceivedCall[] => {
    const body = Buffer.from(JSON.stringify({ ...recipient, MessageID: messageId }));
    const decoded = decodeDeliveryReport({ method: 'POST', contentType: 'application/json', body });
    if (decoded.kind !== 'report' || !wanted.has(comparedServiceAddress(decoded.report.destination)))
      return [];
    if (decoded.report.outcome !== 'delivered' && decoded.report.outcome !== 'undelivered') return [];
    return [{ account, receivedAt, method: 'LOOK-UP', contentType: 'application/json', headers: {}, body }];
  });
}
