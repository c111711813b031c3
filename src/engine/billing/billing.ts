import { setTimeout as sleep } from 'node:timers/promises';
import { InputError } from '../../domain/problems.ts';
import type { AsOf } from '../../domain/replica.ts';
import { bookPending, bookPendingOf } from '../../ledger/billing/book.ts';
import {
  type CloseResult,
  type Closing,
  closePeriod,
  findClosingOf,
  findLastMonthBooked,
  listClosings,
} from '../../ledger/billing/close.ts';
import {
  listBilledRequests,
  type RequestCursor,
  type RequestQuery,
} from '../../ledger/billing/list-requests.ts';
import {
  type BilledDay,
  type BillingEnd,
  type BillingLine,
  type BillingQuery,
  type BillingReport,
  type BillingTotal,
  reportBilling,
  streamBilling,
} from '../../ledger/billing/report.ts';
import { readReportInSnapshot } from '../../ledger/replica.ts';
import { type Alongside, inSnapshot } from '../../ledger/session.ts';
import { monthAfter } from '../../platform/months.ts';
import { audited } from '../audit.ts';
import type { EngineContext } from '../context.ts';

export type StreamedBilling = {
  readonly asOf: AsOf;
  readonly lines: AsyncIterable<readonly BillingLine[]>;
  /** Set when the whole period is closed. */
  readonly closing: Closing | undefined;
  /** Known after the last line. */
  readonly totals: () => readonly BillingTotal[];
  readonly regroup: (by: BillingQuery['by']) => Promise<BillingReport>;
  /** Known after the last line, if asked for. */
  readonly days: () => readonly BilledDay[];
};

/**
 * Books what billing lacks, so that reports count less. Later arrivals wait for the next booking.
 *
 * @param shouldContinue called between two transactions
 */
export async function bookBilling(
  { ledger }: Pick<EngineContext, 'ledger'>,
  shouldContinue = (): boolean => true,
): Promise<void> {
  while ((await bookPending(ledger.pool)) && shouldContinue());
}

/** Milliseconds. */
const longestBooking = 2_000;

/** Books what billing lacks, or the first of it: a page does not wait for the rest. */
export async function bookSoon(context: Pick<EngineContext, 'ledger'>): Promise<void> {
  await Promise.race([bookBilling(context), sleep(longestBooking, undefined, { ref: false })]);
}

/** Books all that a run lacks, of its unsettled requests too, before its costs are read (`readRunCosts`). */
export async function bookRun({ ledger }: Pick<EngineContext, 'ledger'>, run: string): Promise<void> {
  if (await bookPendingOf(ledger.pool, run)) await bookBilling({ ledger });
}

/**
 * Reports everything committed, booked or not, in constant memory. Writes nothing.
 *
 * @param withDays for small reports: they take memory for each line and quarter of an hour
 */
export async function reportBillingLines<Result>(
  context: EngineContext,
  query: BillingQuery,
  use: (report: StreamedBilling) => Promise<Result>,
  withDays = false,
): Promise<Result> {
  return readReportInSnapshot(context.ledger, context.now, async (client, asOf) => {
    let end: BillingEnd = { totals: [], days: [] };
    async function* lines(): AsyncGenerator<readonly BillingLine[], void, undefined> {
      end = yield* streamBilling(client, query, withDays);
    }
    const regroup = (by: BillingQuery['by']): Promise<BillingReport> =>
      reportBilling(client, { ...query, by });
    const { until, timeZone } = query;
    const closing = until === null ? undefined : await findClosingOf(client, until, timeZone);
    return use({ asOf, lines: lines(), closing, totals: () => end.totals, days: () => end.days, regroup });
  });
}

/**
 * The zone for a month that an operator closes without naming one: that of the last closed month.
 *
 * @throws InputError when no month is closed yet; a wrong guess could not be undone
 */
export async function zoneOfNextClosing({ ledger }: EngineContext, month: string): Promise<string> {
  return (await listClosings(ledger.pool)).at(-1)?.timeZone ?? refuseWithoutZone(month);
}

/** @throws InputError always */
export function refuseWithoutZone(month: string): never {
  const what =
    'No month is closed yet, so name the time zone in which your months start and end: --time-zone Pacific/Auckland, or --time-zone UTC. All later months are closed in it too, and a closed month cannot be opened again.';
  throw new InputError([{ where: `billing close ${month}`, what }]);
}

/**
 * @param month `YYYY-MM` in the time zone
 * @throws InputError when it is not over, closed already, or not the next
 */
export async function closeMonth(
  context: EngineContext,
  { month, timeZone, closedBy, reason }: ClosingRequest & { readonly reason?: string },
): Promise<Closing> {
  const details = { timeZone, by: closedBy, ...(reason !== undefined && { reason }) };
  const entry = { action: 'billing closed', subject: month, details } as const;
  return audited(context, entry, (addAuditEntry) =>
    closeAudited(context, { month, timeZone, closedBy }, addAuditEntry),
  );
}

type ClosingRequest = { readonly month: string; readonly timeZone: string; readonly closedBy: string };

async function closeAudited(
  { ledger, now }: EngineContext,
  { month, timeZone, closedBy }: ClosingRequest,
  addAuditEntry: Alongside,
): Promise<Closing> {
  const end = await closePeriod(ledger.pool, { period: month, timeZone, closedBy }, now(), addAuditEntry);
  return end.kind === 'closed' ? end.closing : refuseClosing(month, end);
}

/** @throws InputError always: why a month cannot be closed */
export function refuseClosing(month: string, end: Exclude<CloseResult, { kind: 'closed' }>): never {
  const refuse = (what: string, ...userNames: string[]): never => {
    throw new InputError([{ where: `billing close ${month}`, what, userNames }]);
  };
  switch (end.kind) {
    case 'already closed': {
      const { closedAt, closedBy: by, timeZone: zone } = end.closing;
      return refuse(
        `${by} closed it at ${closedAt.toISOString()} as a month of ${zone}; a closed month does not change.`,
        by,
      );
    }
    case 'not next': {
      const { period, timeZone: zone } = end.last;
      return refuse(
        `The last closed month is ${period} (${zone}). Close the month after it next, with --time-zone ${zone}.`,
      );
    }
    case 'not over':
      return refuse(`It ends at ${end.endsAt.toISOString()}. Close it after that.`);
  }
}

/** The totals of a month that can be closed, before it is. */
export async function readMonth(
  { ledger }: EngineContext,
  { month, timeZone }: Pick<ClosingRequest, 'month' | 'timeZone'>,
): Promise<readonly BillingTotal[]> {
  const [from, until] = [`${month}-01`, `${monthAfter(month)}-01`];
  const query = { by: [], from, until, timeZone, filter: {} };
  return inSnapshot(ledger.pool, async (client) => (await reportBilling(client, query)).totals);
}

/** The requests behind a line of a billing report. @param after undefined for the first page */
export function readBilledRequests(
  { ledger, now }: EngineContext,
  query: RequestQuery,
  { after, limit }: { readonly after: RequestCursor | undefined; readonly limit: number },
) {
  return readReportInSnapshot(ledger, now, async (client, asOf) => {
    const found = await listBilledRequests(client, query, { after, limit: limit + 1 });
    return { asOf, requests: found.slice(0, limit), hasMore: found.length > limit };
  });
}

/**
 * The last month before the local date `until`, as `2026-11`, in which anything was sent. Until a month is closed, what
 * is sent counts in its own month. @returns undefined if there is none
 */
export async function findLastMonthSent(
  context: EngineContext,
  { until, timeZone }: { readonly until: string; readonly timeZone: string },
): Promise<string | undefined> {
  await bookSoon(context);
  return findLastMonthBooked(context.ledger.pool, until, timeZone);
}
