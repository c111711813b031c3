import type { RateLimits } from '../../domain/rates.ts';
import type { Account } from '../../gateway/account.ts';
import { readRateLimits } from '../../ledger/limits/rates.ts';
import type { EngineContext } from '../context.ts';
import { limitsInForce, noLimits } from './account-limits.ts';

/** An account's limits in force, as last read. */
export type CurrentLimits = {
  readonly file: RateLimits;
  readonly known: () => RateLimits | undefined;
  readonly update: (limits: RateLimits) => void;
  readonly refresh: () => Promise<void>;
  readonly isUnlimited: () => Promise<boolean>;
};

/** An operator's change takes effect within so many milliseconds. */
export const refreshInterval = 500;

export function createCurrentLimits(
  { ledger: { pool }, monotonic }: Pick<EngineContext, 'ledger' | 'monotonic'>,
  {
    name,
    requestsPerSecond,
    recipientsPerSecond,
  }: Pick<Account, 'name' | 'requestsPerSecond' | 'recipientsPerSecond'>,
): CurrentLimits {
  const file: RateLimits = { requestsPerSecond, recipientsPerSecond };
  let known: { readonly limits: RateLimits; readonly until: number } | undefined;
  let refreshing: Promise<void> | undefined;

  const update = (limits: RateLimits): void => {
    known = { limits, until: monotonic() + refreshInterval };
  };
  const refresh = (): Promise<void> => {
    refreshing ??= readRateLimits(pool, name)
      .then((set) => update(limitsInForce(set, file)))
      .finally(() => {
        refreshing = undefined;
      });
    return refreshing;
  };

  return {
    file,
    known: () => known?.limits,
    update,
    refresh,
    async isUnlimited() {
      // Limits need no reading: each reservation returns them.
      if (!known || (areEqual(known.limits, noLimits) && known.until <= monotonic())) await refresh();
      return known !== undefined && areEqual(known.limits, noLimits);
    },
  };
}

export function areEqual(one: RateLimits, other: RateLimits): boolean {
  return (
    one.requestsPerSecond === other.requestsPerSecond && one.recipientsPerSecond === other.recipientsPerSecond
  );
}
