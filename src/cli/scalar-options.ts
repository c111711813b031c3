import { InvalidArgumentError } from 'commander';
import {
  billingTime,
  duration,
  expectedDuration,
  localTime,
  positiveNumber,
  rateLimit,
} from '../platform/scalars.ts';

/** A factor of up to a billion, at which a month takes 3 milliseconds. */
export function parseSpeed(text: string): number {
  const result = positiveNumber(1_000_000_000).safeParse(text);
  if (result.success) return result.data;
  throw new InvalidArgumentError('expected a number above 0, at most 1000000000, such as 3600.');
}

export function parseDuration(text: string): number {
  const result = duration.safeParse(text);
  if (result.success) return result.data;
  throw new InvalidArgumentError(`${expectedDuration}.`);
}

export function parseExpiry(text: string): number | null {
  if (text === 'never') return null;
  const read = duration.safeParse(text);
  if (read.success && read.data > 0) return read.data;
  throw new InvalidArgumentError(`${expectedDuration} and above 0, or "never".`);
}

export function parseRateLimit(text: string): number | 'file' {
  if (text === 'file') return text;
  const result = rateLimit.safeParse(text);
  if (result.success) return result.data;
  throw new InvalidArgumentError('expected a number above 0, at most 100000, such as 50 or 0.5, or "file".');
}

/** For Postgres; a later time is a greater text. */
export const parseLocalTime = (text: string): string => parseAs(localTime, text);

/** On a quarter of an hour, the unit of billing. */
export const parseBillingTime = (text: string): string => parseAs(billingTime, text);

function parseAs(scalar: typeof localTime | typeof billingTime, text: string): string {
  const result = scalar.safeParse(text);
  if (result.success) return result.data;
  throw new InvalidArgumentError(result.error.issues[0]?.message ?? 'expected a date.');
}
