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
import { readRunCounts } from '../../ledger/counts/run-counts.ts';
import { type FormerRuns, readFormerRuns } from '../../ledger/counts/run-outcome.ts';
import { listRateLimits } from '../../ledger/limits/rate-limits.ts';
import { readLocation } from '../../ledger/location/location.ts';
import { type ListedNotification, listRunNotifications } from '../../ledger/notifications/list.ts';
import { findUnappliedReports } from '../../ledger/operations/figures.ts';
import { readWorkers } from '../../ledger/operations/workers.ts';
import { listStateChanges, type RunStateChange } from '../../ledger/runs/describe-run.ts';
import { type ListedRun, listRunsBeginning } from '../../ledger/runs/find.ts';
import { readTogether } from '../../ledger/session.ts';
import { type DispatchProgress, progressOf, readDispatch } from '../../ledger/slices/progress.ts';
import { listDecisions, type RecordedDecision } from '../../ledger/watch/decisions.ts';
import { readVariantResults, type VariantResult } from '../../ledger/watch/variant-results.ts';
import { type BookedCosts, createBookedCosts } from '../billing/run-costs.ts';
import type { EngineContext } from '../context.ts';
import { type AccountLimits, joinLimits } from '../dispatch/account-limits.ts';
import { waitsOf } from '../runs/waits.ts';
import type { Settings } from '../settings.ts';
import { createAccountsFileReader } from './accounts-file.ts';
import { createSpeedReader, type Speed } from './speed.ts';

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
  readonly former: FormerRuns;
  /** Oldest first. */
  readonly decisions: readonly RecordedDecision[];
  /** Empty: the campaign has none. */
  readonly variants: readonly VariantResult[];
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

/** Undefined if there is no such run. */
export type ReadLiveRun = (run: string) => Promise<LiveRun | undefined>;

/** Largest groups and payers, and newest entries of the audit trail. */
const maxListed = { groups: 50, payers: 10, entries: 50 } as const;

/** Reads what pages show of runs as they are: a look at a run of a million requests takes some milliseconds. */
export function createLiveRuns(
  context: Pick<EngineContext, 'ledger' | 'now' | 'monotonic'>,
  settings: Settings,
): ReadLiveRun {
  const { ledger, now, monotonic } = context;
  const readCosts = createBookedCosts(context);
  const speedOf = createSpeedReader(monotonic);
  const readFile = createAccountsFileReader(settings);
  return async (run) => {
    const file = await readFile();
    const at = now();
    const look = await readTogether(ledger.monitoring, (client) => ({
      found: listRunsBeginning(client, run, 1),
      dispatch: readDispatch(client, [run]),
      counts: readRunCounts(client, [run]),
      answers: readRunAnswers(client, run),
      failures: listFailureGroups(client, run, { limit: maxListed.groups }),
      results: listDeliveryResults(client, run, maxListed.groups),
      rejections: listRejections(client, run),
      former: readFormerRuns(client, run),
      decisions: listDecisions(client, run),
      variants: readVariantResults(client, run, 'billing_entries'),
      states: listStateChanges(client, run),
      audit: listAudit(client, { run }, maxListed.entries),
      notifications: listRunNotifications(client, run),
      unapplied: findUnappliedReports(client, at),
      location: readLocation(client),
      fleet: readWorkers(client),
      setRates: listRateLimits(client),
    }));
    const { found, dispatch, counts, location, fleet, setRates, states, audit, notifications, ...shown } =
      look;
    const [head] = found;
    const progress = progressOf(dispatch, counts).get(run);
    if (head?.run !== run || !progress) return undefined;
    const limits = joinLimits(file.limits ?? new Map(), setRates).find(
      ({ account }) => account === head.account,
    );
    const speed = speedOf(run, progress);
    return {
      ...speed,
      ...shown,
      head,
      at,
      progress,
      waits: waitsOf({
        progress,
        onHold: location.holdReason,
        workers: fleet.workers,
        now: at,
        perSecond: speed.perSecond,
        limits: limits?.inForce,
      }),
      limits,
      costs: await readCosts(run, progress.state, maxListed.payers),
      events: { states, audit, notifications },
    };
  };
}
