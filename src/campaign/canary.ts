import { formatDuration } from '../domain/scalar-text.ts';
import { toInstant } from '../platform/zoned-times.ts';
import type { Definition } from './definition.ts';
import { nextLocalTime } from './window.ts';
import { isTimeOfDay } from './window-definition.ts';
import { campaignZone } from './window-faults.ts';

type Warning = { readonly path: readonly string[]; readonly what: string };

/** Whether a webhook or a status look-up brings delivery reports. */
export type ReportedAccount = { readonly bringsReports: boolean };

/** Shares that need delivery reports, where the account brings some. */
const reportedByDefault = { undelivered: 0.1, unreported: 0.5 };

/** Adds the limits that a campaign leaves out. */
export function withCanaryLimits(definition: Definition, { bringsReports }: ReportedAccount): Definition {
  const { canary } = definition;
  if (!canary || !bringsReports) return definition;
  return { ...definition, canary: { ...canary, abort: { ...reportedByDefault, ...canary.abort } } };
}

/** What is valid in a canary and probably a mistake. Sentences without a full stop. */
export function canaryWarnings(
  definition: Definition,
  { bringsReports }: ReportedAccount,
  now: Date,
): Warning[] {
  const { canary } = definition;
  if (!canary) return [];
  const { observe, abort } = canary;
  const warnings: Warning[] = [];
  const warn = (path: readonly string[], what: string): void => {
    warnings.push({ path: ['canary', ...path], what: `"canary.${path.join('.')}": ${what}` });
  };
  for (const limit of ['undelivered', 'unreported'] as const) {
    if (abort[limit] === undefined || bringsReports) continue;
    const effect = limit === 'unreported' ? 'so the run always pauses' : 'so it never holds';
    const what = `account "${definition.account}" has neither a webhook nor a status look-up that brings delivery reports, ${effect}`;
    warn(['abort', limit], what);
  }
  return [...warnings, ...observeWarnings(definition, 'canary', observe, now)];
}

/** What a time of observation before the rest of a campaign is sent (milliseconds) does not fit. @param of its key */
export function observeWarnings(
  definition: Definition,
  of: 'canary' | 'until',
  observe: number,
  now: Date,
): Warning[] {
  const { window } = definition;
  const warnings: Warning[] = [];
  const warn = (what: string): void => {
    warnings.push({ path: [of, 'observe'], what: `"${of}.observe": ${what}` });
  };
  if (window && observe >= openMilliseconds(window))
    warn(
      `${formatDuration(observe)} is longer than the window is open, so the rest waits until it opens again`,
    );
  if (isHeldByService(definition))
    warn(
      'the service sends at the SendTime of a request, so delivery reports may come after the time of observation',
    );
  const last = lastTime(definition, now);
  if (last && now.getTime() + observe > last.getTime())
    warn(`${formatDuration(observe)} goes beyond the deadline, so the rest would be late`);
  return warnings;
}

/** Whether the service sends later than it accepts. */
export function isHeldByService({ window, message }: Pick<Definition, 'window' | 'message'>): boolean {
  return window?.hold === 'service' || Object.hasOwn(message, 'SendTime');
}

function openMilliseconds({ from, to }: NonNullable<Definition['window']>): number {
  const minutes = from < to ? to - from : 24 * 60 - from + to;
  return minutes * 60_000;
}

function lastTime({ deadline, ...definition }: Definition, now: Date): Date | undefined {
  const zone = campaignZone(definition);
  if (deadline === undefined || zone === undefined) return undefined;
  return toInstant(isTimeOfDay(deadline) ? nextLocalTime(deadline, zone, now) : deadline, zone);
}
