import type { UnappliedReports } from '../../domain/delivery-reports.ts';
import type { RunWait } from '../../domain/waits.ts';
import { type AuditEntry, listAudit } from '../../ledger/audit/audit.ts';
import { type RunAnswers, readRunAnswers } from '../../ledger/counts/answers.ts';
import {
  type DeliveryResult,
  type FailureGroup,
  listDeliveryResults,
  listFailureGroups,
  listRejections,
  type RejectionGroup,
} from '../../ledger/counts/groups.ts';
import { listRateLimits } from '../../ledger/limits/rates.ts';
import { type ListedNotification, listRunNotifications } from '../../ledger/notifications/list.ts';
import { findUnappliedReports } from '../../ledger/operations/figures.ts';
import { listStateChanges, type RunStateChange } from '../../ledger/runs/details.ts';
import { type ListedRun, listRunsBeginning } from '../../ledger/runs/find.ts';
import { inTransaction, type Transaction } from '../../ledger/session.ts';
import { type DispatchProgress, readDispatchProgress } from '../../ledger/slices/progress.ts';
import { type BookedCosts, createBookedCosts } from '../billing/run-costs.ts';
import type { EngineContext } from '../context.ts';
import { type AccountLimits, joinLimits } from '../dispatch/account-limits.ts';
import { readFleet, waitsOf } from '../runs/waits.ts';
import type { Settings } from '../settings.ts';
import { createAccountsFileReader, type LiveAccountsFile } from './accounts-file.ts';
import { createSpeedReader, type Speed } from './rate-meter.ts';

/** A run as it is now: what the ledger says is of one moment, except the costs, which are booked beside it. */
export type LiveRun = Speed & {
  readonly head: ListedRun;
  readonly at: Date;
  readonly progress: DispatchProgress;
  readonly answers: RunAnswers;
  readonly waits: readonly RunWait[];
  readonly limits: AccountLimits | undefined;
  /** The largest first. */
  readonly failures: readonly FailureGroup[];
  readonly results: readonly DeliveryResult[];
  readonly costs: BookedCosts;
  readonly rejections: readonly RejectionGroup[];
  readonly events: RunEvents;
  readonly unapplied: UnappliedReports;
};

export type RunEvents = {
  /** Oldest first. */
  readonly states: readonly RunStateChange[];
  /** Newest first. */
  readonly audit: readonly AuditEntry[];
  /** Oldest first. */
  readonly notifications: readonly ListedNotification[];
};

export type LiveRuns = {
  /** Undefined if there is no such run. */
  readonly read: (run: string) => Promise<LiveRun | undefined>;
};

/** Largest groups and payers, and newest entries of the audit trail. */
const maxListed = { groups: 50, payers: 10, entries: 50 } as const;

/** Ends by itself within a second. */
const oneSnapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Reads what pages show of runs as they are: a look at a run of a million requests takes some milliseconds. */
export function createLiveRuns(
  context: Pick<EngineContext, 'ledger' | 'now' | 'monotonic'>,
  settings: Settings,
): LiveRuns {
  const { ledger, now, monotonic } = context;
  const readCosts = createBookedCosts(context);
  const speedOf = createSpeedReader(monotonic);
  const readFile = createAccountsFileReader(settings);
  return {
    read: async (run) => {
      const file = await readFile();
      const at = now();
      const look = (client: Transaction) => readLook(client, run, file, at);
      const found = await inTransaction(ledger.monitoring, look, oneSnapshot);
      if (!found) return undefined;
      const { fleet, ...live } = found;
      const { progress, limits } = live;
      const costs = await readCosts(run, progress.state, maxListed.payers);
      const speed = speedOf(run, progress);
      const waits = waitsOf({
        progress,
        ...fleet,
        now: at,
        rate: speed.rate,
        limits: limits?.inForce,
      });
      return { ...live, ...speed, at, costs, waits };
    },
  };
}

async function readLook(client: Transaction, run: string, file: LiveAccountsFile, now: Date) {
  const [head] = await listRunsBeginning(client, run, 1);
  const progress = (await readDispatchProgress(client, [run])).get(run);
  if (head?.run !== run || !progress) return undefined;
  const limits = joinLimits(file.limits ?? new Map(), await listRateLimits(client));
  return {
    head,
    progress,
    fleet: await readFleet(client),
    limits: limits.find(({ account }) => account === head.account),
    answers: await readRunAnswers(client, run),
    failures: await listFailureGroups(client, run, { limit: maxListed.groups }),
    results: await listDeliveryResults(client, run, maxListed.groups),
    rejections: await listRejections(client, run),
    events: {
      states: await listStateChanges(client, run),
      audit: await listAudit(client, { run }, maxListed.entries),
      notifications: await listRunNotifications(client, run),
    },
    unapplied: await findUnappliedReports(client, now),
  };
}
