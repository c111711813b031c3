import { setTimeout as sleep } from 'node:timers/promises';
import { hasEnded } from '../../domain/runs.ts';
import { type AuditEntry, listAudit } from '../../ledger/audit/audit.ts';
import { listRateLimits } from '../../ledger/limits/rates.ts';
import { type ListedNotification, listRunNotifications } from '../../ledger/notifications/list.ts';
import {
  type DeliveryResult,
  listDeliveryResults,
  listRejections,
  listStateChanges,
  type RejectionGroup,
  type RunStateChange,
} from '../../ledger/runs/details.ts';
import { type FailureGroup, listFailureGroups } from '../../ledger/runs/failure-groups.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import type { EngineContext } from '../context.ts';
import { type AccountLimits, joinLimits } from '../dispatch/account-limits.ts';
import type { Settings } from '../settings.ts';
import { createAccountsFileReader } from './accounts-file.ts';
import { createPacedRead, type PacedRead } from './paced-read.ts';

export type RunEvents = {
  /** Oldest first. */
  readonly states: readonly RunStateChange[];
  /** Newest first. */
  readonly audit: readonly AuditEntry[];
  /** Oldest first. */
  readonly notifications: readonly ListedNotification[];
};

/** Figures of a run that can take long to read, each read as often as that allows. */
export type SlowFigures = {
  readonly failures: PacedRead<readonly FailureGroup[]>;
  readonly results: PacedRead<readonly DeliveryResult[]>;
  readonly rejections: PacedRead<readonly RejectionGroup[]>;
  readonly events: PacedRead<RunEvents>;
  readonly limits: PacedRead<AccountLimits | undefined>;
  /**
   * Reads what is due. Of a run that has ended it waits for that; otherwise only at first, and shortly.
   *
   * @param maxAge milliseconds; older figures of a run that has ended are due
   */
  readonly refresh: (run: Pick<ListedRun, 'account' | 'state' | 'purgedAt'>, maxAge: number) => Promise<void>;
};

/** Milliseconds. */
const longestWait = { first: 60, over: 5_000 } as const;

/** Largest groups, and newest entries of the audit trail. */
const maxListed = { failures: 50, entries: 50 } as const;

export function createSlowFigures(
  context: Pick<EngineContext, 'ledger' | 'now' | 'monotonic'>,
  settings: Settings,
  run: string,
): SlowFigures {
  const { pool } = context.ledger;
  let account = '';
  let known: string | undefined;
  const paced = <Value>(least: number, read: () => Promise<Value>): PacedRead<Value> =>
    createPacedRead(context, least, read);
  const failures = paced(400, () => listFailureGroups(pool, run, maxListed.failures));
  const results = paced(1_000, () => listDeliveryResults(pool, run));
  // They do not change after planning.
  const rejections = paced(3_600_000, () => listRejections(pool, run));
  const events = paced(900, async () => ({
    states: await listStateChanges(pool, run),
    audit: await listAudit(pool, { run }, maxListed.entries),
    notifications: await listRunNotifications(pool, run),
  }));
  const readFile = createAccountsFileReader(settings);
  const limits = paced(400, async () => {
    const file = await readFile();
    const all = joinLimits(file.limits ?? new Map(), await listRateLimits(pool));
    return all.find((each) => each.account === account);
  });
  const changing = [events, failures, results];
  const all = [...changing, limits, rejections];
  let refreshing: Promise<void> | undefined;
  /** One after another: together they use one connection. */
  const readDue = async (): Promise<void> => {
    for (const each of all) await each.refresh();
  };
  const refreshAll = (): Promise<void> => {
    refreshing ??= readDue().finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  };
  return {
    failures,
    results,
    rejections,
    events,
    limits,
    refresh: async ({ account: of, state, purgedAt }, maxAge) => {
      account = of;
      const isOver = hasEnded(state);
      const isExpired = (each: PacedRead<unknown>): boolean => isOver && each.age() > maxAge;
      // What a run is when it ends, pauses or is purged is read at once.
      const now = `${state} ${purgedAt?.getTime()}`;
      for (const each of changing) if (known !== now || isExpired(each)) each.expire();
      known = now;
      const refreshed = refreshAll();
      // A reading that had begun before is followed by another one.
      if (isOver)
        await Promise.race([refreshed.then(refreshAll), sleep(longestWait.over, undefined, { ref: false })]);
      else if (rejections.latest() === undefined)
        await Promise.race([refreshed, sleep(longestWait.first, undefined, { ref: false })]);
    },
  };
}
