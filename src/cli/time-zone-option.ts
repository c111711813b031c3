import { InvalidArgumentError } from 'commander';
import { nearestZone, regionName } from '../platform/region-names.ts';

export function parseTimeZone(text: string): string {
  const name = regionName(text);
  if (name !== undefined) return name;
  throw new InvalidArgumentError(`expected a time zone such as Pacific/Auckland or UTC.${nearestZone(text)}`);
}
