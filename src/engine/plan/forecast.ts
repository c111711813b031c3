import type { Campaign } from '../../campaign/campaign.ts';
import type { Definition } from '../../campaign/definition.ts';
import { type Forecast, type ForecastPortion, forecast } from '../../campaign/forecast.ts';
import { localTime, nextLocalTime, type WindowRule } from '../../campaign/window.ts';
import { isTimeOfDay } from '../../campaign/window-definition.ts';
import { campaignZone } from '../../campaign/window-faults.ts';
import { InputError } from '../../domain/problems.ts';
import type { RateLimits } from '../../domain/rate-limits.ts';
import type { WindowWait } from '../../domain/runs.ts';
import type { Account } from '../../gateway/account.ts';
import { readRateLimits } from '../../ledger/limits/rate-limits.ts';
import type { PlanRules } from '../../ledger/planning/planned-run.ts';
import { readWindowTotals, type WindowTotals } from '../../ledger/planning/windows.ts';
import type { Connection, Transaction } from '../../ledger/session.ts';
import { count } from '../../platform/sentence.ts';
import { toInstant } from '../../platform/zoned-times.ts';
import { limitsInForce, noLimits } from '../dispatch/account-limits.ts';
import { windowOf } from '../dispatch/dispatch-settings.ts';
import { canaryOf } from '../watch/canary.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

/** When a run would end that starts now, with nothing else on its account. */
export type RunForecast = {
  /** ISO 8601; null without a rate, a window and a canary. */
  readonly endsAt: string | null;
  /** The account's limits in force. */
  readonly limits: RateLimits;
  /** Different windows; 0 without any. */
  readonly windows: number;
  /** Requests that wait for a window, the earliest first. With `hold: service`, the service holds them. */
  readonly waits: readonly WindowWait[];
  readonly deadline: DeadlineForecast | null;
};

type DeadlineForecast = {
  readonly at: string;
  readonly timeZone: string;
  readonly late: number;
  readonly examples: readonly LateRecipient[];
};

type LateRecipient = {
  readonly address: string;
  readonly fileAndLine: string;
  /** Empty when the recipient has no window. */
  readonly timeZones: readonly string[];
};

const maxLateExamples = 3;

/**
 * Forecasts when what was decided would be sent, in the transaction that decided.
 *
 * @param readsLedger whether limits set by an operator override those of the account
 * @throws InputError when a recipient would miss the deadline and the campaign says `onDeadline: refuse`
 */
export async function forecastDecided(
  client: Transaction,
  { campaign, account }: Pick<PreparedCampaign, 'campaign' | 'account'>,
  {
    rules,
    fileAndLine,
  }: { readonly rules: Pick<PlanRules, 'window'>; readonly fileAndLine: (line: number) => string },
  { now, readsLedger }: { readonly now: Date; readonly readsLedger: boolean },
): Promise<{ readonly windowTotals: readonly WindowTotals[]; readonly forecast: RunForecast }> {
  const windowTotals = await readWindowTotals(client, rules.window !== undefined);
  const limits = readsLedger ? await readLimits(client, account) : limitsInForce(noLimits, account);
  const definition = campaign.value;
  const deadline = resolveDeadline(definition, now);
  const planned = windowTotals.map((totals) => {
    const found = totals.zones.length > 0 ? rules.window?.(totals.zones) : undefined;
    return { ...totals, opensAt: found?.opensAt ?? null, sendAt: found?.handover?.at ?? null };
  });
  const found = forecastAt(now, definition, {
    limits,
    portions: planned,
    deadline: deadline && toInstant(deadline.at, deadline.timeZone),
  });
  const forecast = {
    endsAt: found.endsAt,
    limits,
    windows: definition.window ? windowTotals.length : 0,
    waits: planned
      .flatMap(({ zones, opensAt, sendAt, requests, recipients }) => {
        const until = opensAt ?? sendAt;
        return until ? [{ timeZones: zones, until: until.toISOString(), requests, recipients }] : [];
      })
      .sort((one, other) => one.until.localeCompare(other.until)),
    deadline: deadline ? { ...deadline, ...countLate(windowTotals, found.late, fileAndLine) } : null,
  };
  requireDeadlineMet(campaign, forecast);
  return { windowTotals, forecast };
}

/** The same for a run, or a rerun of it, of which portions are known. @param definition as frozen in the run */
export async function forecastPortions(
  client: Connection,
  { account, definition }: { readonly account: Account; readonly definition: unknown },
  portions: readonly ForecastPortion[],
  now: Date,
): Promise<Pick<RunForecast, 'endsAt' | 'limits' | 'deadline'>> {
  const limits = await readLimits(client, account);
  const frozen = { window: windowOf(definition), canary: canaryOf(definition) };
  const { endsAt } = forecastAt(now, frozen, { limits, portions, deadline: undefined });
  return { endsAt, limits, deadline: null };
}

async function readLimits(client: Connection, account: Account): Promise<RateLimits> {
  return limitsInForce(await readRateLimits(client, account.name), account);
}

function forecastAt(
  now: Date,
  {
    window,
    canary,
  }: { readonly window?: WindowRule | undefined; readonly canary?: { observe: number } | undefined },
  {
    limits,
    portions,
    deadline,
  }: {
    readonly limits: RateLimits;
    readonly portions: readonly ForecastPortion[];
    readonly deadline: Date | undefined;
  },
): Pick<RunForecast, 'endsAt'> & { readonly late: Forecast['late'] | undefined } {
  // The rest waits at most so long for its canary.
  const from = new Date(now.getTime() + (canary?.observe ?? 0));
  const found = forecast(portions, window, limits, { from, deadline });
  const { requestsPerSecond, recipientsPerSecond } = limits;
  const isKnown =
    window !== undefined ||
    canary !== undefined ||
    requestsPerSecond !== null ||
    recipientsPerSecond !== null;
  return { endsAt: (isKnown && found?.endsAt.toISOString()) || null, late: found?.late };
}

function resolveDeadline(
  definition: Pick<Definition, 'deadline' | 'timeZone' | 'schedule' | 'window'>,
  now: Date,
): Pick<DeadlineForecast, 'at' | 'timeZone'> | undefined {
  const { deadline } = definition;
  const timeZone = campaignZone(definition);
  if (deadline === undefined || timeZone === undefined) return undefined;
  return { at: isTimeOfDay(deadline) ? nextLocalTime(deadline, timeZone, now) : deadline, timeZone };
}

function countLate(
  windowTotals: readonly WindowTotals[],
  late: Forecast['late'] | undefined,
  fileAndLine: (line: number) => string,
): Pick<DeadlineForecast, 'late' | 'examples'> {
  // When a window never opens, all of its recipients are late.
  const counts = windowTotals.map(({ recipients }, index) => late?.[index] ?? recipients);
  return {
    late: counts.reduce((sum, count) => sum + count, 0),
    examples: windowTotals
      .flatMap(({ zones, lastRecipients }, index) =>
        lastRecipients
          .slice(0, counts[index])
          .map(({ address, line }) => ({ address, fileAndLine: fileAndLine(line), timeZones: zones })),
      )
      .slice(0, maxLateExamples),
  };
}

function requireDeadlineMet({ value, locate }: Campaign, { deadline, endsAt }: RunForecast): void {
  if (value.onDeadline !== 'refuse' || deadline === null || deadline.late === 0) return;
  throw new InputError([{ where: locate(['deadline']), what: formatLate(deadline, endsAt) }]);
}

export function formatLate(
  { at, timeZone, late, examples }: DeadlineForecast,
  endsAt: string | null,
  zone: string = timeZone,
): string {
  const deadline = zone === timeZone ? at : localTime(toInstant(at, timeZone), zone);
  const end = endsAt === null ? '' : `, and the last at ${localTime(new Date(endsAt), zone)}`;
  const some = examples.map(({ fileAndLine, address }) => `${fileAndLine} (${address})`).join(', ');
  return `${count(late, 'recipient')} would be sent to after ${deadline} ${zone}${end}; among them ${some}.`;
}
