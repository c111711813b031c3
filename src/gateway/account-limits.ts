import type { RateLimits } from '../domain/rates.ts';
import { readYaml } from '../platform/yaml.ts';
import { accountsSchema } from './accounts-schema.ts';

/** @throws InputError for an invalid file */
export function readAccountLimits(source: string, file: string): ReadonlyMap<string, RateLimits> {
  const { value } = readYaml(source, file, accountsSchema);
  return new Map(
    Object.entries(value.accounts).map(([name, { limits }]) => [
      name,
      {
        requestsPerSecond: limits.requestsPerSecond ?? null,
        recipientsPerSecond: limits.recipientsPerSecond ?? null,
      },
    ]),
  );
}
