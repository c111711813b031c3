import { countUnresolvedReports, type UnresolvedState } from '../../ledger/delivery-reports/page.ts';
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
import { createPacedRead } from './paced-read.ts';

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
  /** Of all accounts, because calls wait in one queue. */
  readonly inbox: Omit<InboxFigures, 'failed'>;
  /** At most one more than `maxUnresolved` each. */
  readonly unresolved: Readonly<Record<UnresolvedState, number>>;
  /** As booked. By age, in the order of `missingAges`, and last those of less than an hour. */
  readonly missing: readonly AccountMissing[];
  /** As booked, of the last 30 days: runs with delivery reports on requests that were never sent. */
  readonly unsent: readonly RunReportedUnsent[];
};

export type DeliveryReportReader = {
  readonly read: (accounts: readonly string[] | null) => Promise<LiveDeliveryReports>;
};

/** The start of each age, from the oldest. The last one begins now: nothing was sent later. */
export function missingBounds(now: Date): Date[] {
  return missingAges.map((hours) => new Date(now.getTime() - hours * hour));
}

/** Reads from small tables, or up to a limit; a figure that takes longer is read less often. */
export function createDeliveryReportReader(context: EngineContext): DeliveryReportReader {
  const readers = new Map<string, () => Promise<LiveDeliveryReports>>();
  return {
    read: (accounts) => {
      const key = JSON.stringify(accounts);
      const reader = readers.get(key) ?? createReader(context, accounts);
      readers.set(key, reader);
      return reader();
    },
  };
}

function createReader(
  context: EngineContext,
  accounts: readonly string[] | null,
): () => Promise<LiveDeliveryReports> {
  const { now } = context;
  const { pool, monitoring } = context.ledger;
  const arrivals = createPacedRead(context, 400, () => readArrivals(monitoring, accounts, now()));
  const unresolved = createPacedRead(context, 400, () =>
    countUnresolvedReports(monitoring, accounts, maxUnresolved + 1),
  );
  const missing = createPacedRead(context, 2_000, () =>
    countMissingByAge(pool, accounts, missingBounds(now())),
  );
  const unsent = createPacedRead(context, 2_000, () =>
    listRunsReportedUnsent(pool, accounts, new Date(now().getTime() - unsentFor), maxUnsentRuns),
  );
  const inbox = createPacedRead(context, 400, () => readInboxFigures(monitoring, now()));
  const paced = [arrivals, unresolved, missing, unsent, inbox];
  return async () => {
    // Fails during an outage, in which the figures stay as they were.
    const last = await readLastArrival(monitoring);
    await Promise.all(paced.map((each) => each.refresh()));
    const found = [
      arrivals.latest(),
      unresolved.latest(),
      missing.latest(),
      unsent.latest(),
      inbox.latest(),
    ] as const;
    const [arrived, looked, missed, unsentRuns, queued] = found;
    if (!arrived || !looked || !missed || !unsentRuns || !queued)
      throw new Error('the figures of delivery reports could not be read');
    return {
      last,
      arrivals: arrived,
      unresolved: looked,
      missing: missed,
      unsent: unsentRuns,
      inbox: queued,
    };
  };
}
