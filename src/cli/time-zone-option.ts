import { InvalidArgumentError, Option } from 'commander';
import { didYouMeanZone, timeZoneName } from '../platform/time-zone-names.ts';

export function timeZoneOption(what: string): Option {
  return new Option('--time-zone <zone>', `${what}, such as Pacific/Auckland`)
    .default('UTC')
    .argParser(parseTimeZone);
}

export function parseTimeZone(text: string): string {
  const name = timeZoneName(text);
  if (name !== undefined) return name;
  throw new InvalidArgumentError(
    `expected a time zone such as Pacific/Auckland or UTC.${didYouMeanZone(text)}`,
  );
}
