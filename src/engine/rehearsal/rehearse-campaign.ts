import { createWindowGate, type WindowRule } from '../../campaign/window.ts';
import type { RateLimits } from '../../domain/rate-limits.ts';
import { readRunAnswers } from '../../ledger/counts/answers.ts';
import { readRunCounts } from '../../ledger/counts/run-counts.ts';
import { listFormerRuns } from '../../ledger/counts/run-outcome.ts';
import { readReportDelay } from '../../ledger/delivery-reports/report-delays.ts';
import { type PlannedLot, readPlannedLots } from '../../ledger/planning/planned-lots.ts';
import type { PlanWindow } from '../../ledger/planning/windows.ts';
import type { Transaction } from '../../ledger/session.ts';
import { type ComparedRun, readUsual, type UsualOutcome } from '../../ledger/watch/usual.ts';
import type { YamlFile } from '../../platform/yaml.ts';
import type { PreparedCampaign } from '../plan/prepare-campaign.ts';
import type { PreviewedPlan } from '../plan/prove-plan.ts';
import { canaryOf } from '../watch/canary.ts';
import { guardOf } from '../watch/guard.ts';
import { type Given, requireDestinations } from './given-file.ts';
import { type Rehearsal, rehearse } from './rehearse.ts';
import { chooseService, type KnownService, type Stated } from './service.ts';
import { type Group, type Lot, leftIn, noCounts } from './simulated-run.ts';

export type RehearsalRequest = {
  /** Undefined: all is as in former runs. */
  readonly given: YamlFile<Given> | undefined;
  readonly seed: number;
};

export type CampaignRehearsal = Rehearsal & {
  readonly seed: number;
  readonly service: KnownService;
  /** Completed runs of the campaign that the service is known from. */
  readonly formerRuns: number;
};

/**
 * Plays what was decided, in the transaction that decided. Nothing is sent or written.
 *
 * @throws InputError for a destination that the run does not have
 */
export async function rehearseDecided(
  client: Transaction,
  { prepared, rules, decided, forecast, now, ledger }: PreviewedPlan,
  { given, seed }: RehearsalRequest,
): Promise<CampaignRehearsal> {
  const { campaign, account, channel, dispatch } = prepared.campaign.value;
  const planned = await readPlannedLots(client);
  const destinations = new Set(
    planned.flatMap((lot) => lot.destinations.map(({ destination }) => destination)),
  );
  if (given) requireDestinations(given, [...destinations]);
  const past = ledger
    ? await readPast(client, { campaign, account, channel, createdAt: now, run: '' })
    : { runs: 0, usual: undefined, stated: [] };
  const service = chooseService([
    ['given', given?.value ?? {}],
    ['no reports', prepared.account.bringsReports ? {} : { unreported: 1 }],
    ...past.stated,
  ]);
  const undeliveredAt = undeliveredBy(service, past.usual, given?.value);
  const groups = [...destinations].flatMap((destination) =>
    [true, false].map(
      (isCanary): Group => ({
        destination,
        isCanary,
        undeliveredAt: undeliveredAt(destination),
        counts: noCounts(),
      }),
    ),
  );
  const lots = planned.map(lotMaker(prepared.campaign.value.window, rules.window, groups));
  const chunk = leftIn(lots) / Math.max(1, decided.requests);
  const run = {
    begin: now,
    lots,
    chunk,
    perSecond: speedOf(prepared, forecast.limits, service, chunk),
    canary: canaryOf(prepared.campaign.value),
    guard: guardOf(prepared.campaign.value),
    failFast: dispatch.failFast,
    usual: past.usual,
  };
  return { seed, service, formerRuns: past.runs, ...rehearse(run, service, seed) };
}

type Past = {
  /** Completed ones of the campaign. */
  readonly runs: number;
  /** What the guard compares with. */
  readonly usual: UsualOutcome | undefined;
  readonly stated: readonly Stated[];
};

/** Reads kept counts, and a sample of report delays. */
async function readPast(client: Transaction, compared: ComparedRun): Promise<Past> {
  const usual = await readUsual(client, compared);
  const runs = await listFormerRuns(client, compared);
  const counts = [...(await readRunCounts(client, runs)).values()].map(({ recipients }) => recipients);
  const total = (count: (of: (typeof counts)[number]) => number): number =>
    counts.reduce((sum, each) => sum + count(each), 0);
  const share = (some: number, all: number): number | undefined => (all === 0 ? undefined : some / all);
  const accepted = total((of) => of.accepted + of.delivered + of.undelivered);
  const inDoubt = total((of) => of.unknown);
  const rejected = total((of) => of.rejected + of.failed);
  const undelivered = usual && share(usual.whole.events, usual.whole.trials);
  const [newest] = runs;
  const ofCampaign = {
    rejected: share(rejected, rejected + inDoubt + accepted),
    unknown: share(inDoubt, inDoubt + accepted),
    unreported: share(
      total((of) => of.accepted),
      accepted,
    ),
    undelivered: usual?.source === 'campaign' ? undelivered : undefined,
    answerAfter:
      newest === undefined ? undefined : ((await readRunAnswers(client, newest)).latency.median ?? undefined),
    reportAfter: await readReportDelay(client, runs),
  };
  return {
    runs: runs.length,
    usual,
    stated: [
      ['former runs', ofCampaign],
      ['account', { undelivered }],
    ],
  };
}

/** What is given of a destination, else what former runs had there, unless the share of all is given. */
function undeliveredBy(
  { undelivered }: KnownService,
  usual: UsualOutcome | undefined,
  given: Given | undefined,
): (destination: string) => Group['undeliveredAt'] {
  return (destination) => {
    const former = undelivered.source === 'given' ? undefined : usual?.at[destination];
    const otherwise = former ? former.events / former.trials : undelivered.value;
    const stated = given?.destinations.filter((each) => each.destination === destination) ?? [];
    return (sent) => stated.findLast(({ from }) => sent >= from)?.undelivered ?? otherwise;
  };
}

function lotMaker(
  window: WindowRule | undefined,
  plan: PlanWindow | undefined,
  groups: readonly Group[],
): (planned: PlannedLot) => Lot {
  return ({ zones: written, isCanary, destinations }) => {
    const zones = written?.split(',') ?? [];
    const sendAt = (zones.length > 0 && plan?.(zones).handover?.at) || null;
    const recipients = new Map(destinations.map((each) => [each.destination, each.recipients]));
    const left = new Map(
      groups.flatMap((group) => {
        const some = group.isCanary === isCanary ? recipients.get(group.destination) : undefined;
        return some === undefined ? [] : [[group, some] as const];
      }),
    );
    return {
      isCanary,
      gate: window && zones.length > 0 ? createWindowGate(window, { zones, sendAt }) : undefined,
      sendAt,
      left,
    };
  };
}

/** Recipients a second: as fast as the limits of the account allow, and the answers of the service. */
function speedOf(
  { campaign, account }: PreparedCampaign,
  { requestsPerSecond, recipientsPerSecond }: RateLimits,
  { answerAfter }: KnownService,
  chunk: number,
): number {
  const never = Number.POSITIVE_INFINITY;
  const inFlight = Math.min(account.concurrency, campaign.value.dispatch.concurrency);
  const answered = inFlight / (Math.max(1, answerAfter.value) / 1_000);
  return Math.min(Math.min(requestsPerSecond ?? never, answered) * chunk, recipientsPerSecond ?? never);
}
