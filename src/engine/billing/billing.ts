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
  type BillingQuery,
  type BillingTotal,
  openBilling,
  reportBilling,
  sumBilling,
} from '../../ledger/billing/report.ts';
import { readReportInSnapshot } from '../../ledger/replica.ts';
import { inSnapshot } from '../../ledger/session.ts';
import { monthAfter } from '../../platform/months.ts';
import { audited } from '../audit.ts';
import type { EngineContext } from '../context.ts';

export type StreamedBilling = Awaited<ReturnType<typeof openBilling>> & {
  readonly asOf: AsOf;
  /** Set when the whole period is closed. */
  readonly closing: Closing | undefined;
  /** The lines by day, and those by each of the dimensions. */
  readonly sumBy: (dimensions: BillingQuery['by']) => ReturnType<typeof sumBilling>;
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

/** Reports everything committed, booked or not, in constant memory. Writes nothing. */
export async function reportBillingLines<Result>(
  { ledger, now }: EngineContext,
  query: BillingQuery,
  use: (report: StreamedBilling) => Promise<Result>,
): Promise<Result> {
  return readReportInSnapshot(ledger, now, async (client, asOf) => {
    const { until, timeZone } = query;
    const closing = until === null ? undefined : await findClosingOf(client, until, timeZone);
    const sumBy: StreamedBilling['sumBy'] = (by) => sumBilling(client, query, ['day', ...by]);
    return use({ asOf, closing, ...(await openBilling(client, query)), sumBy });
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

/** `month` is `YYYY-MM` in the time zone. */
type MonthOfZone = { readonly month: string; readonly timeZone: string };

/**
 * @throws InputError when it is not over, closed already, or not the next
 */
export async function closeMonth(
  context: EngineContext,
  {
    month,
    timeZone,
    closedBy,
    reason,
  }: MonthOfZone & { readonly closedBy: string; readonly reason?: string },
): Promise<Closing> {
  const details = { timeZone, by: closedBy, ...(reason !== undefined && { reason }) };
  const entry = { action: 'billing closed', subject: month, details } as const;
  return audited(context, entry, async (addAuditEntry) => {
    const asked = { period: month, timeZone, closedBy };
    const end = await closePeriod(context.ledger.pool, asked, context.now(), addAuditEntry);
    return end.kind === 'closed' ? end.closing : refuseClosing(month, end);
  });
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
  { month, timeZone }: MonthOfZone,
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
