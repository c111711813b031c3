import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { personPattern } from '../domain/access.ts';
import { durationUnits, isDayOrTime } from '../domain/scalar-text.ts';
import { notInListError } from './usage-errors.ts';

/** Readers of the values of options and arguments. They throw InvalidArgumentError, which says what is expected. */

export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('expected a port from 0 to 65535.');
}

export function parseWholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number.');
}

export function parseCount(text: string): number {
  const count = parseWholeNumber(text);
  if (count > 0) return count;
  throw new InvalidArgumentError('expected a whole number above 0.');
}

/** @returns milliseconds */
export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (isDecimal(text) && seconds >= 0.1 && seconds <= 3_600) return seconds * 1_000;
  throw new InvalidArgumentError('expected seconds from 0.1 to 3600, such as 2.');
}

export function parseShare(text: string): number {
  const share = Number(text);
  if (isDecimal(text) && share <= 1) return share;
  throw new InvalidArgumentError('expected a share from 0 to 1, such as 0.05.');
}

const isDecimal = (text: string): boolean => /^(?:\d+|\d*\.\d+)$/.test(text);

export function parsePerson(text: string): string {
  if (personPattern.test(text)) return text.trim();
  throw new InvalidArgumentError('expected the name of a person, of at most 200 printable characters.');
}

/** Reads a time before now: `15m`, a time in UTC, or a day, which begins at midnight in UTC. */
export function parsePast(text: string): (now: Date) => Date {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const [, size] = Object.entries(durationUnits).find(([name]) => name === unit) ?? [];
  if (size !== undefined) return (now) => new Date(now.getTime() - Number(number) * size);
  if (isDayOrTime(text)) return () => new Date(text);
  throw new InvalidArgumentError(
    'expected a time before now, such as 15m, or a time in UTC, such as 2026-11-21 or 2026-11-21T08:00:00Z.',
  );
}

export function parseCampaignName(text: string): string {
  // Also where upper and lower case are the same in file names.
  if (text.toLowerCase() === 'accounts')
    throw new InvalidArgumentError('expected another name: campaigns/accounts.yaml holds the accounts.');
  if (/^[A-Za-z0-9][\w-]{0,59}$/.test(text)) return text;
  throw new InvalidArgumentError('expected a name of at most 60 letters, digits, "-" and "_".');
}

/** Makes a reader of states that are separated by commas, for an option that can be repeated. */
export function statesReader<Word extends string>(
  known: readonly Word[],
): (text: string, before?: readonly Word[]) => readonly Word[] {
  return (text, before = []) => {
    const words = text.split(',').map((written) => {
      const word = known.find((each) => each === written.trim());
      if (word !== undefined) return word;
      throw notInListError(written.trim(), known, ', separated by commas');
    });
    return [...before, ...words];
  };
}

/** The following readers need a package, which takes longer to load than a `--help`. */

export const loadCountryReader = async () => {
  const { countryOf, expectedCountry } = await import('../platform/countries.ts');
  return (text: string): string => {
    const country = countryOf(text);
    if (country) return country;
    throw new InvalidArgumentError(expectedCountry(text));
  };
};

export const loadTimeZoneReader = async () => {
  const { didYouMeanZone, timeZoneName } = await import('../platform/time-zone-names.ts');
  return (text: string): string => {
    const name = timeZoneName(text);
    if (name !== undefined) return name;
    throw new InvalidArgumentError(
      `expected a time zone such as Pacific/Auckland or UTC.${didYouMeanZone(text)}`,
    );
  };
};

type Scalars = typeof import('../platform/scalars.ts');

/** A reader by a scalar of the schemas. @param instead a word that is allowed too, and its meaning */
const scalarReader =
  <Value, Meaning = never>(
    choose: (scalars: Scalars) => z.ZodType<Value>,
    instead?: readonly [word: string, meaning: Meaning],
  ) =>
  async () => {
    const scalar = choose(await import('../platform/scalars.ts'));
    return (text: string): Value | Meaning => {
      if (instead && text === instead[0]) return instead[1];
      const read = scalar.safeParse(text);
      if (read.success) return read.data;
      const expected = read.error.issues[0]?.message.replace(/\.$/, '') ?? 'expected another value';
      throw new InvalidArgumentError(instead ? `${expected}, or "${instead[0]}".` : `${expected}.`);
    };
  };

/** Reads milliseconds. */
export const loadDurationReader = scalarReader(({ duration }) => duration);

/** Reads milliseconds, or "never". Commander makes a value that is null an empty text. */
export const loadExpiryReader = scalarReader(
  ({ duration, expectedDuration }) =>
    duration.refine((milliseconds) => milliseconds > 0, `${expectedDuration} and above 0`),
  ['never', 'never' as const],
);

export const loadRateLimitReader = scalarReader(({ rateLimit }) => rateLimit, ['file', 'file' as const]);

/** Reads a factor of up to a billion, at which a month takes 3 milliseconds. */
export const loadSpeedReader = scalarReader(({ positiveNumber }) => positiveNumber(1_000_000_000));

/** Reads a time as Postgres reads it; a later one is a greater text. */
export const loadLocalTimeReader = scalarReader(({ localTime }) => localTime);

/** Reads a time on a quarter of an hour, the unit of billing. */
export const loadBillingTimeReader = scalarReader(({ billingTime }) => billingTime);
