import { InputError } from '../domain/problems.ts';
import type { RunRates } from '../domain/rate-card.ts';
import { formatDuration } from '../domain/scalar-text.ts';
import type { YamlFile } from '../platform/yaml.ts';
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

/** @throws InputError for prices that nothing can be compared with */
export function checkGuard({ value, locate }: YamlFile<Definition>, rates: RunRates | null): void {
  if (value.guard?.price === undefined || rates !== null) return;
  const what = `"guard.price": account "${value.account}" has no "rates" for ${value.channel}, so no price can be compared.`;
  throw new InputError([{ where: locate(['guard', 'price']), what }]);
}

/** What is valid in a canary, a guard and `until`, and probably a mistake. Sentences without a full stop. */
export function watchWarnings(
  definition: Definition,
  { bringsReports }: ReportedAccount,
  now: Date,
): Warning[] {
  const { canary, until, guard } = definition;
  return [
    ...(bringsReports ? [] : reportWarnings(definition)),
    ...(canary ? observeWarnings(definition, 'canary.observe', canary.observe, now) : []),
    ...(until ? observeWarnings(definition, 'until.observe', until.observe, now) : []),
    ...(bringsReports && guard?.silence !== undefined && isHeldByService(definition)
      ? [
          warningAt(
            'guard.silence',
            `${heldByService}, so the run pauses unless reports come soon after its acceptance`,
          ),
        ]
      : []),
  ];
}

function warningAt(key: string, what: string): Warning {
  return { path: key.split('.'), what: `"${key}": ${what}` };
}

/** What needs delivery reports. */
function reportWarnings({ account, canary, guard, until }: Definition): Warning[] {
  const needed = [
    ['canary.abort.undelivered', canary?.abort.undelivered, 'it never holds'],
    ['canary.abort.unreported', canary?.abort.unreported, 'the run always pauses'],
    ['guard.undelivered', guard?.undelivered, 'it finds nothing'],
    ['guard.silence', guard?.silence, 'it stops every run'],
    ['guard.price', guard?.price, 'it finds nothing'],
    ['until', until, 'no variant ever wins'],
  ] as const;
  const because = `account "${account}" has neither a webhook nor a status look-up that brings delivery reports`;
  return needed.flatMap(([key, written, effect]) =>
    written === undefined ? [] : warningAt(key, `${because}, so ${effect}`),
  );
}

/** What a time of observation before the rest of a campaign is sent (milliseconds) does not fit. */
function observeWarnings(definition: Definition, key: string, observe: number, now: Date): Warning[] {
  const { window } = definition;
  const last = lastTime(definition, now);
  return [
    window &&
      observe >= openMilliseconds(window) &&
      `${formatDuration(observe)} is longer than the window is open, so the rest waits until it opens again`,
    isHeldByService(definition) &&
      `${heldByService}, so delivery reports may come after the time of observation`,
    last &&
      now.getTime() + observe > last.getTime() &&
      `${formatDuration(observe)} goes beyond the deadline, so the rest would be late`,
  ].flatMap((what) => (what ? warningAt(key, what) : []));
}

const heldByService = 'the service sends at the SendTime of a request';

/** Whether the service sends later than it accepts. */
function isHeldByService({ window, message }: Definition): boolean {
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
