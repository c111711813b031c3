import { InvalidArgumentError } from 'commander';
import { didYouMeanZone, timeZoneName } from '../platform/time-zone-names.ts';

export function parseTimeZone(text: string): string {
  const name = timeZoneName(text);
  if (name !== undefined) return name;
  throw new InvalidArgumentError(
    `expected a time zone such as Pacific/Auckland or UTC.${didYouMeanZone(text)}`,
  );
}
