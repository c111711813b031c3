import { countUnresolvedReports } from '../../ledger/delivery-reports/list.ts';
import {
  countMissingByAge,
  listRunsReportedUnsent,
  readArrivals,
  readLastArrival,
} from '../../ledger/operations/delivery-reports.ts';
import { readInboxFigures } from '../../ledger/operations/figures.ts';
import type { EngineContext } from '../context.ts';

const hour = 3_600_000;

/** Hours since the request was sent, from the oldest: each age lasts until the next. */
const missingAges = [7 * 24, 24, 6, 1] as const;

const unsentFor = 30 * 24 * hour;

/** Runs in the list: each is an accident of its own. */
const maxUnsentRuns = 100;

/** Counting ends here. */
export const maxUnresolved = 10_000;

export type LiveDeliveryReports = Awaited<ReturnType<typeof readDeliveryReports>>;

/** The start of each age, from the oldest. The last one begins now: nothing was sent later. */
export function missingBounds(now: Date): Date[] {
  return missingAges.map((hours) => new Date(now.getTime() - hours * hour));
}

/** Reads from small tables and indexes, or up to a limit. What is missing or unsent, as booked. */
export async function readDeliveryReports(
  { ledger: { monitoring }, now }: Pick<EngineContext, 'ledger' | 'now'>,
  accounts: readonly string[] | null,
) {
  const at = now();
  const unsentSince = new Date(at.getTime() - unsentFor);
  return {
    /** The last arrival of all accounts; null: none. */
    last: await readLastArrival(monitoring),
    arrivals: await readArrivals(monitoring, accounts, at),
    /** Each count is at most one more than `maxUnresolved`. */
    unresolved: await countUnresolvedReports(monitoring, accounts, maxUnresolved + 1),
    /** By age, in the order of `missingAges`, and last those of less than an hour. */
    missing: await countMissingByAge(monitoring, accounts, missingBounds(at)),
    /** Of the last 30 days: runs with delivery reports on requests that were never sent. */
    unsent: await listRunsReportedUnsent(monitoring, accounts, unsentSince, maxUnsentRuns),
    /** The figures of all accounts, because calls wait in one queue. */
    inbox: await readInboxFigures(monitoring, at),
  };
}
