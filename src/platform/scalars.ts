import { z } from 'zod';
import { durationUnits } from '../domain/scalar-text.ts';
import { knownText } from './schema-messages.ts';
import { didYouMeanZone, timeZoneName } from './time-zone-names.ts';

export const expectedDuration = 'expected a duration such as 500ms, 5s, 2m, 2h or 7d';

/** Parses `500ms`, `5s`, `2m`, `2h` or `7d` into milliseconds. */
export const duration = z
  .string()
  .regex(/^\d{1,6}(ms|s|m|h|d)$/, expectedDuration)
  .transform(readDuration);

function readDuration(text: string): number {
  const unit = text.replace(/^\d+/, '');
  const factor = Object.entries(durationUnits).find(([name]) => name === unit)?.[1] ?? 0;
  return Number.parseInt(text, 10) * factor;
}

/** Parses text, because YAML scalars stay text here. Without a default, the number is required. */
export function requiredNumber(minimum: number, maximum: number, more: { readonly default?: number } = {}) {
  return z
    .string()
    .refine((text) => /^\d{1,9}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum, {
      error: `expected a whole number from ${minimum} to ${maximum}`,
    })
    .meta({ type: 'integer', minimum, maximum, ...more })
    .transform(Number);
}

export function wholeNumber(minimum: number, maximum: number, byDefault: number) {
  return requiredNumber(minimum, maximum, { default: byDefault }).default(byDefault);
}

export const booleanText = z
  .string()
  .refine((written) => written === 'true' || written === 'false', { error: 'expected true or false' })
  .meta({ type: 'boolean' })
  .transform((written) => written === 'true');

/** Text that may stand without quotes in YAML, so editors must accept apparent numbers and booleans. */
export const text = z
  .string()
  .min(1, 'expected a text')
  .meta({ type: ['string', 'number', 'boolean'] });

/** A name that reports and commands can show as it is written. */
export const plainName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'expected 1 to 64 letters, digits, ".", "_" or "-"')
  .meta({ type: ['string', 'number', 'boolean'] });

/** An exact decimal. Stays text, because money must not become a floating-point number. */
export function decimal(maximum: number, kind = 'an amount', example = '12.50') {
  return z
    .string()
    .refine((written) => isDecimal(written, maximum), {
      error: `expected ${kind} from 0 to ${maximum}, such as ${example}, with at most 8 decimals`,
    })
    .meta({ type: ['string', 'number'], minimum: 0, maximum, pattern: decimalPattern.source });
}

const decimalPattern = /^(?:0|[1-9]\d{0,11})(?:\.\d{1,8})?$/;

function isDecimal(written: string, maximum: number): boolean {
  const [whole = '', fraction = ''] = written.split('.');
  if (!decimalPattern.test(written)) return false;
  return Number(whole) < maximum || (Number(whole) === maximum && !/[1-9]/.test(fraction));
}

export function positiveNumber(maximum: number) {
  return z
    .string()
    .refine((written) => isDecimal(written, maximum) && Number(written) > 0, {
      error: `expected a number above 0, at most ${maximum}, such as 50 or 0.5`,
    })
    .meta({ type: ['string', 'number'], exclusiveMinimum: 0, maximum, pattern: decimalPattern.source })
    .transform(Number);
}

/** The most requests or recipients a second. */
export const rateLimit = positiveNumber(100_000);

export const percentage = z
  .string()
  .regex(/^(?:100|\d{1,2}(?:\.\d{1,3})?)%$/, 'expected a share from 0% to 100%, such as 5%')
  .transform((written) => Number(written.slice(0, -1)) / 100);

const isoDate = z.iso.date();

/** An ISO 8601 calendar date; rejects 2026-02-30. */
export const localDate = z
  .string()
  .refine((written) => isoDate.safeParse(written).success, { error: 'expected a date such as 2026-11-01' })
  .meta({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' });

export const timeZone = knownText(
  (name) => timeZoneName(name) !== undefined,
  'expected a time zone such as Pacific/Auckland or UTC',
  didYouMeanZone,
);

/** Parses a local date, month or time into text that Postgres reads and that sorts by time. */
export const localTime = z.string().transform((text, problem) => {
  const [, month, day, time] = /^(\d{4}-\d\d)(?:-(\d\d)(?:T(\d\d:\d\d))?)?$/.exec(text) ?? [];
  const written = `${month}-${day ?? '01'}T${time ?? '00:00'}`;
  const read = new Date(`${written}Z`);
  // ISO 8601 has a year 0, Postgres has none.
  if (
    month !== undefined &&
    !month.startsWith('0000') &&
    !Number.isNaN(read.getTime()) &&
    read.toISOString().startsWith(written)
  )
    return written;
  problem.addIssue({
    code: 'custom',
    message: 'expected a date such as 2026-11-01, a month or a time (2026-11-01T08:30).',
  });
  return z.NEVER;
});

/** Like `localTime`, for billing, which keeps quarters of hours. */
export const billingTime = localTime.refine((time) => /:(00|15|30|45)$/.test(time), {
  error: 'billing keeps quarters of hours, so a time ends with :00, :15, :30 or :45.',
});
