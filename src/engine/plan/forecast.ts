import type { Campaign } from '../../campaign/campaign.ts';
import type { Definition } from '../../campaign/definition.ts';
import { type Forecast, forecast } from '../../campaign/forecast.ts';
import { localTime, nextLocalTime } from '../../campaign/window.ts';
import { isTimeOfDay } from '../../campaign/window-definition.ts';
import { campaignZone } from '../../campaign/window-faults.ts';
import { InputError } from '../../domain/problems.ts';
import type { RateLimits } from '../../domain/rate-limits.ts';
import type { WindowWait } from '../../domain/runs.ts';
import type { Account } from '../../gateway/account.ts';
import { readRateLimits } from '../../ledger/limits/rate-limits.ts';
import type { PlanRules } from '../../ledger/planning/planned-run.ts';
import { readWindowTotals, type WindowTotals } from '../../ledger/planning/windows.ts';
import type { Transaction } from '../../ledger/session.ts';
import { count } from '../../platform/sentence.ts';
import { toInstant } from '../../platform/zoned-times.ts';
import { limitsInForce } from '../dispatch/account-limits.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

/** When a run would end that starts now, with nothing else on its account. */
export type RunForecast = {
  /** ISO 8601; null without a rate and a window. */
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
  const { requestsPerSecond, recipientsPerSecond } = account;
  const inFile = { requestsPerSecond, recipientsPerSecond };
  const limits = readsLedger ? limitsInForce(await readRateLimits(client, account.name), inFile) : inFile;
  const forecast = forecastRun(campaign.value, account, { limits, from: now, windowTotals, fileAndLine });
  requireDeadlineMet(campaign, forecast);
  return { windowTotals, forecast };
}

function forecastRun(
  definition: Pick<Definition, 'window' | 'deadline' | 'timeZone' | 'schedule' | 'canary'>,
  account: Pick<Account, 'interface'>,
  {
    limits,
    from,
    windowTotals,
    fileAndLine,
  }: {
    readonly limits: RateLimits;
    readonly from: Date;
    readonly windowTotals: readonly WindowTotals[];
    /** Formats a line that is counted over all files. */
    readonly fileAndLine: (line: number) => string;
  },
): RunForecast {
  const { window } = definition;
  const zone = campaignZone(definition);
  const deadline = zone === undefined ? undefined : resolveDeadline(definition, zone, from);
  const plan = windowPlanner(window, account.interface, from);
  const planned = windowTotals.map((totals) => {
    const found = plan && totals.zones.length > 0 ? plan(totals.zones) : undefined;
    return { ...totals, opensAt: found?.opensAt ?? null, sendAt: found?.handover?.at ?? null };
  });
  const last = deadline === undefined || zone === undefined ? undefined : toInstant(deadline, zone);
  // The rest waits at most so long for its canary.
  const begins = new Date(from.getTime() + (definition.canary?.observe ?? 0));
  const found = forecast(planned, window, limits, { from: begins, deadline: last });
  const isKnown =
    window !== undefined || limits.requestsPerSecond !== null || limits.recipientsPerSecond !== null;
  return {
    endsAt: (isKnown && found?.endsAt.toISOString()) || null,
    limits,
    windows: window ? windowTotals.length : 0,
    waits: planned
      .flatMap(({ zones, opensAt, sendAt, requests, recipients }) => {
        const until = opensAt ?? sendAt;
        return until ? [{ timeZones: zones, until: until.toISOString(), requests, recipients }] : [];
      })
      .sort((one, other) => one.until.localeCompare(other.until)),
    deadline:
      deadline === undefined || zone === undefined
        ? null
        : { at: deadline, timeZone: zone, ...countLate(windowTotals, found, fileAndLine) },
  };
}

function resolveDeadline(
  { deadline }: Pick<Definition, 'deadline'>,
  zone: string,
  from: Date,
): string | undefined {
  return deadline !== undefined && isTimeOfDay(deadline) ? nextLocalTime(deadline, zone, from) : deadline;
}

function countLate(
  windowTotals: readonly WindowTotals[],
  found: Forecast | undefined,
  fileAndLine: (line: number) => string,
): Pick<DeadlineForecast, 'late' | 'examples'> {
  // When a window never opens, all of its recipients are late.
  const counts = windowTotals.map(({ recipients }, index) => found?.late[index] ?? recipients);
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
