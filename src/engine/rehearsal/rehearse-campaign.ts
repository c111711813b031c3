import { createWindowGate } from '../../campaign/window.ts';
import type { RateLimits } from '../../domain/rate-limits.ts';
import { type PlannedLot, readPlannedLots } from '../../ledger/planning/planned-lots.ts';
import type { Transaction } from '../../ledger/session.ts';
import type { YamlFile } from '../../platform/yaml.ts';
import { toInstant } from '../../platform/zoned-times.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import type { PreparedCampaign } from '../plan/prepare-campaign.ts';
import type { DecidedPlan } from '../plan/preview-campaign.ts';
import { canaryOf } from '../watch/canary.ts';
import { guardOf } from '../watch/guard.ts';
import { type Given, requireDestinations } from './given-file.ts';
import { type PastService, readPastService } from './past-service.ts';
import { type Rehearsal, type RehearsedRun, rehearse } from './rehearse.ts';
import {
  chooseModel,
  type ModelSources,
  type ReportShares,
  type ServiceModel,
  withShares,
} from './service-model.ts';
import type { Group } from './simulated-run.ts';
import type { Lot } from './simulated-sending.ts';

export type RehearsalRequest = {
  /** Undefined: all is as in former runs. */
  readonly given: YamlFile<Given> | undefined;
  readonly seed: number;
};

export type CampaignRehearsal = Rehearsal & {
  readonly seed: number;
  readonly model: ServiceModel;
  readonly sources: ModelSources;
  /** Completed runs that the model comes from. */
  readonly formerRuns: number;
};

/**
 * Plays what was decided, in the transaction that decided. Nothing is sent or written.
 *
 * @throws InputError for a destination that the run does not have
 */
export async function rehearseDecided(
  client: Transaction,
  prepared: PreparedCampaign,
  { forecast, now, readsLedger }: DecidedPlan,
  { given, seed }: RehearsalRequest,
): Promise<CampaignRehearsal> {
  const { campaign, account, channel } = prepared.campaign.value;
  const lots = await readPlannedLots(client);
  const destinations = [
    ...new Set(lots.flatMap((lot) => lot.destinations.map(({ destination }) => destination))),
  ];
  if (given) requireDestinations(given, destinations);
  const past = readsLedger
    ? await readPastService(client, { campaign, account, channel, createdAt: now, run: '' })
    : undefined;
  const { model, sources } = chooseModel(given?.value, {
    known: past?.known,
    bringsReports: prepared.account.bringsReports,
  });
  const groups = toGroups(destinations, reportsOf(model, sources, past, given?.value));
  const toLot = lotMaker(prepared, groups, now);
  const settings = canaryOf(prepared.campaign.value);
  const canary = lots.filter(({ isCanary }) => isCanary).map(toLot);
  const run: RehearsedRun = {
    begin: now,
    groups,
    canary: settings && canary.length > 0 ? { settings, lots: canary } : undefined,
    lots: lots.filter(({ isCanary }) => !isCanary).map(toLot),
    speed: speedOf(prepared, forecast.limits, model),
    guard: guardOf(prepared.campaign.value),
    usual: past?.usual,
    deadline: forecast.deadline ? toInstant(forecast.deadline.at, forecast.deadline.timeZone) : undefined,
  };
  return { seed, model, sources, formerRuns: past?.usual?.runs ?? 0, ...rehearse(run, model, seed) };
}

function toGroups(
  destinations: readonly string[],
  reportsAt: (destination: string) => Group['reportsAt'],
): readonly Group[] {
  return [true, false].flatMap((isCanary) =>
    destinations.map((destination) => ({
      isCanary,
      destination,
      reportsAt: reportsAt(destination),
    })),
  );
}

/** What is given of a destination, else what former runs had there, unless the shares of all are given. */
function reportsOf(
  model: ServiceModel,
  sources: ModelSources,
  past: PastService | undefined,
  given: Given | undefined,
): (destination: string) => Group['reportsAt'] {
  return (destination) => {
    const former = sources.reports === 'former runs' ? past?.destinations.get(destination) : undefined;
    const usual: ReportShares = former ?? model.reports;
    const stated = given?.destinations.find((each) => each.destination === destination);
    if (!stated) return () => usual;
    const changed = withShares(usual, stated);
    return (sent) => (sent >= stated.from ? changed : usual);
  };
}

function lotMaker(
  { campaign, account }: PreparedCampaign,
  groups: readonly Group[],
  now: Date,
): (planned: PlannedLot) => Lot {
  const { window } = campaign.value;
  const plan = windowPlanner(window, account.interface, now);
  return ({ zones: written, isCanary, requests, destinations }) => {
    const zones = written?.split(',') ?? [];
    const sendAt = (zones.length > 0 && plan?.(zones).handover?.at) || null;
    const recipients = new Map(destinations.map((each) => [each.destination, each.recipients]));
    const left = groups.map((group) =>
      group.isCanary === isCanary ? (recipients.get(group.destination) ?? 0) : 0,
    );
    const total = left.reduce((sum, each) => sum + each, 0);
    return {
      gate: window && zones.length > 0 ? createWindowGate(window, { zones, sendAt }) : undefined,
      sendAt,
      chunk: total / Math.max(1, requests),
      left,
    };
  };
}

/** As fast as the limits of the account allow, and the answers of the service. */
function speedOf(
  { campaign, account }: PreparedCampaign,
  { requestsPerSecond, recipientsPerSecond }: RateLimits,
  { answerAfter }: ServiceModel,
): RehearsedRun['speed'] {
  const inFlight = Math.min(account.concurrency, campaign.value.dispatch.concurrency);
  const answered = inFlight / (Math.max(1, answerAfter) / 1_000);
  return {
    requests: Math.min(requestsPerSecond ?? answered, answered),
    recipients: recipientsPerSecond ?? Number.POSITIVE_INFINITY,
  };
}
