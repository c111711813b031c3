import type { RateLimits } from '../../domain/rates.ts';
import type { Account } from '../../gateway/account.ts';
import { readRateLimits } from '../../ledger/limits/rates.ts';
import type { EngineContext } from '../context.ts';
import { limitsInForce, noLimits } from './account-limits.ts';

/** An account's limits in force, as this process last read them. */
export type CurrentLimits = {
  readonly file: RateLimits;
  /** Undefined before the first reading. */
  readonly known: () => RateLimits | undefined;
  readonly update: (limits: RateLimits) => void;
  /** Reads the ledger, once for all callers. */
  readonly refresh: () => Promise<void>;
  readonly isUnlimited: () => Promise<boolean>;
};

/** Milliseconds in which an operator's change takes effect. */
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
      // Limits are not read again here: the next reservation returns them.
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
