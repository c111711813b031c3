import { hasEnded } from '../../domain/runs.ts';
import type { RunEvent } from '../../ledger/events/event.ts';
import {
  type FollowedRun,
  listFollowedRuns,
  mayBeRead,
  type ReadEvent,
  type RunningTransactions,
  readAttempts,
  readResolutions,
  readRunningTransactions,
  readSettledRequests,
  readStateChanges,
} from '../../ledger/events/read-rows.ts';
import {
  listFirstSlices,
  listTouchedSlices,
  type ReadOutcomes,
  type ReadSliceOutcomes,
  readOutcomes,
  readSliceOutcomes,
  type TouchedSlice,
} from '../../ledger/events/read-slices.ts';
import { inSnapshot, type Transaction } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { type KnownSlices, sliceKey, takeDoneSlices, takeOutcomes } from './accepted-requests.ts';
import { createReportCursor } from './report-cursor.ts';

type FollowOptions = {
  /** Undefined: every run that is not over, and the newest ones. */
  readonly run: string | undefined;
  /** The first look reads requests claimed and answered since then. */
  readonly since: Date | null;
  readonly withAddresses: boolean;
};

export type Look = {
  /** In order of time. In another look there can be an earlier one, which was committed later. */
  readonly events: readonly RunEvent[];
  /** Whether all followed runs are over, and nothing is in flight. */
  readonly isOver: boolean;
};

/**
 * Reads what happens to runs. Each look is one read-only snapshot over a monitoring connection, and reads by keys only
 * what was changed since the one before. The first look also reads some of what was before.
 *
 * No event is lost or read twice, in whatever order transactions commit. A look that fails can be repeated.
 */
export function createFollower(
  { ledger, now }: Pick<EngineContext, 'ledger' | 'now'>,
  options: FollowOptions,
): () => Promise<Look> {
  const reports = createReportCursor();
  const known: KnownSlices = new Map();
  const seen = createSeen();
  let oldest: string | null = null;
  return async () => {
    const [found, foundReports] = await inSnapshot(ledger.monitoring, async (client) => {
      const running = await readRunningTransactions(client);
      const read = await readRuns(client, options, { known, oldest, running, now: now() });
      const runs = options.run === undefined ? null : [options.run];
      const query = { runs, withAddresses: options.withAddresses };
      return [read, await reports.read(client, query, running)] as const;
    });
    const events = [
      ...takeSliceEvents(found, known),
      ...found.rows.filter(seen.isNew).map(({ event }) => event),
      ...reports.take(foundReports),
    ];
    oldest = found.running.oldest;
    seen.forgetBefore(oldest);
    return {
      events: events.toSorted((one, other) => one.at.getTime() - other.at.getTime()),
      isOver: found.followed.every(({ state, heldSlices }) => hasEnded(state) && heldSlices === 0),
    };
  };
}

type Found = {
  readonly running: RunningTransactions;
  readonly followed: readonly FollowedRun[];
  readonly touched: readonly TouchedSlice[];
  readonly outcomes: readonly ReadOutcomes[];
  readonly done: readonly ReadSliceOutcomes[];
  readonly rows: readonly ReadEvent[];
};

/** Slices in a statement, which may take less than a second. */
const batchSize = 25;

/** Requests are claimed before they are answered: at most so long before (milliseconds). */
const longestInFlight = 600_000;

type Looking = Pick<Found, 'running'> & {
  readonly known: KnownSlices;
  readonly oldest: string | null;
  readonly now: Date;
};

async function readRuns(
  client: Transaction,
  { run, since }: FollowOptions,
  { known, oldest, running, now }: Looking,
): Promise<Found> {
  const followed = await listFollowedRuns(client, run);
  const runs = followed.map((each) => each.run);
  const first = oldest === null;
  const claimedSince = since && new Date(since.getTime() - longestInFlight);
  const touched = first
    ? await listFirstSlices(client, runs, claimedSince)
    : (await listTouchedSlices(client, runs, oldest)).filter(
        (slice) => slice.isHeld || known.get(sliceKey(slice))?.content !== slice.content,
      );
  const outcomes: ReadOutcomes[] = [];
  const done: ReadSliceOutcomes[] = [];
  const rows = [
    ...(await readStateChanges(client, runs, oldest)),
    ...(await readResolutions(client, runs, oldest)),
  ];
  for (let start = 0; start < touched.length; start += batchSize) {
    const slices = touched.slice(start, start + batchSize);
    const open = slices.filter(({ isDone }) => !isDone);
    const finished = slices.filter(({ isDone }) => isDone);
    const versions = open.map((each) => ({ ...each, version: known.get(sliceKey(each))?.version ?? 0 }));
    outcomes.push(...(await readOutcomes(client, versions, oldest)));
    done.push(...(await readSliceOutcomes(client, finished, oldest)));
    rows.push(...(await readAttempts(client, slices, oldest, first ? since : null)));
    rows.push(...(await readSettledRequests(client, slices, oldest, now)));
  }
  return { running, followed, touched, outcomes, done, rows };
}

function takeSliceEvents({ touched, outcomes, done }: Found, known: KnownSlices): RunEvent[] {
  const firsts = new Map(touched.map((slice) => [sliceKey(slice), slice.first]));
  for (const slice of touched) {
    const key = sliceKey(slice);
    const before = known.get(key);
    if (before) before.content = slice.content;
    else known.set(key, { content: slice.content, version: 0, accepted: new Set() });
  }
  return [
    ...takeOutcomes(known, outcomes),
    ...takeDoneSlices(
      known,
      done.map((each) => ({ ...each, first: firsts.get(sliceKey(each)) ?? 1 })),
    ),
  ];
}

/** What a follower has shown of rows that it may read again. */
function createSeen() {
  const rows = new Map<string, Pick<ReadEvent, 'content' | 'transaction'>>();
  return {
    /** Whether the row's content was not shown yet. From then on it was. */
    isNew({ key, content, transaction }: ReadEvent): boolean {
      const isNew = rows.get(key)?.content !== content;
      rows.set(key, { content, transaction });
      return isNew;
    },
    /** Forgets rows of older transactions, which are not read again. */
    forgetBefore(oldest: string): void {
      for (const [key, { transaction }] of rows) if (!mayBeRead(transaction, oldest)) rows.delete(key);
    },
  };
}
