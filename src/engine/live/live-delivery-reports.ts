import { countUnresolvedReports, type UnresolvedState } from '../../ledger/delivery-reports/list.ts';
import {
  type AccountMissing,
  type Arrivals,
  countMissingByAge,
  listRunsReportedUnsent,
  type RunReportedUnsent,
  readArrivals,
  readLastArrival,
} from '../../ledger/operations/delivery-reports.ts';
import { type InboxFigures, readInboxFigures } from '../../ledger/operations/figures.ts';
import type { EngineContext } from '../context.ts';

const hour = 3_600_000;

/** Hours since the request was sent, from the oldest: each age lasts until the next. */
const missingAges = [7 * 24, 24, 6, 1] as const;

const unsentFor = 30 * 24 * hour;

/** Runs in the list: each is an accident of its own. */
const maxUnsentRuns = 100;

/** Counting ends here. */
export const maxUnresolved = 10_000;

export type LiveDeliveryReports = {
  readonly arrivals: readonly Arrivals[];
  /** The last arrival of all accounts; null: none. */
  readonly last: Date | null;
  /** The figures of all accounts, because calls wait in one queue. */
  readonly inbox: Omit<InboxFigures, 'failed'>;
  /** Each count is at most one more than `maxUnresolved`. */
  readonly unresolved: Readonly<Record<UnresolvedState, number>>;
  /** As booked: by age, in the order of `missingAges`, and last those of less than an hour. */
  readonly missing: readonly AccountMissing[];
  /** As booked, of the last 30 days: runs with delivery reports on requests that were never sent. */
  readonly unsent: readonly RunReportedUnsent[];
};

/** The start of each age, from the oldest. The last one begins now: nothing was sent later. */
export function missingBounds(now: Date): Date[] {
  return missingAges.map((hours) => new Date(now.getTime() - hours * hour));
}

/** Reads from small tables and indexes, or up to a limit. */
export async function readDeliveryReports(
  { ledger: { monitoring }, now }: Pick<EngineContext, 'ledger' | 'now'>,
  accounts: readonly string[] | null,
): Promise<LiveDeliveryReports> {
  const at = now();
  return {
    last: await readLastArrival(monitoring),
    arrivals: await readArrivals(monitoring, accounts, at),
    unresolved: await countUnresolvedReports(monitoring, accounts, maxUnresolved + 1),
    missing: await countMissingByAge(monitoring, accounts, missingBounds(at)),
    unsent: await listRunsReportedUnsent(
      monitoring,
      accounts,
      new Date(at.getTime() - unsentFor),
      maxUnsentRuns,
    ),
    inbox: await readInboxFigures(monitoring, at),
  };
}
