import { listAudit } from '../../ledger/audit/audit.ts';
import { readRunAnswers } from '../../ledger/counts/answers.ts';
import { listDeliveryResults, listFailureGroups, listRejections } from '../../ledger/counts/groups.ts';
import { readRunCounts } from '../../ledger/counts/run-counts.ts';
import { readFormerRuns } from '../../ledger/counts/run-outcome.ts';
import { listRateLimits } from '../../ledger/limits/rate-limits.ts';
import { readLocation } from '../../ledger/location/location.ts';
import { listRunNotifications } from '../../ledger/notifications/list.ts';
import { findUnappliedReports } from '../../ledger/operations/figures.ts';
import { readWorkers } from '../../ledger/operations/workers.ts';
import { listStateChanges } from '../../ledger/runs/describe-run.ts';
import { type ListedRun, listRunsBeginning } from '../../ledger/runs/find.ts';
import { readTogether } from '../../ledger/session.ts';
import { progressOf, readDispatch } from '../../ledger/slices/progress.ts';
import { listDecisions } from '../../ledger/watch/decisions.ts';
import { readVariantResults } from '../../ledger/watch/variant-results.ts';
import { createBookedCosts } from '../billing/run-costs.ts';
import type { EngineContext } from '../context.ts';
import { joinLimits } from '../dispatch/account-limits.ts';
import { waitsOf } from '../runs/waits.ts';
import type { Settings } from '../settings.ts';
import { createAccountsFileReader } from './accounts-file.ts';
import { createSpeedReader } from './speed.ts';

/** A run as it is now: what the ledger says is of one moment, except the costs, which are booked beside it. */
export type LiveRun = NonNullable<Awaited<ReturnType<ReadLiveRun>>>;

export type RunEvents = LiveRun['events'];

/** Undefined if there is no such run. */
export type ReadLiveRun = ReturnType<typeof createLiveRuns>;

/** Largest groups and payers, and newest entries of the audit trail. */
const maxListed = { groups: 50, payers: 10, entries: 50 } as const;

/** Reads what pages show of runs as they are: a look at a run of a million requests takes some milliseconds. */
export function createLiveRuns(
  context: Pick<EngineContext, 'ledger' | 'now' | 'monotonic'>,
  settings: Settings,
) {
  const { ledger, now, monotonic } = context;
  const readCosts = createBookedCosts(context);
  const speedOf = createSpeedReader(monotonic);
  const readFile = createAccountsFileReader(settings);
  return async (run: string) => {
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
    const [head]: readonly ListedRun[] = found;
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
