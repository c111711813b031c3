import { InputError } from '../../domain/problems.ts';
import type { RateLimits } from '../../domain/rates.ts';
import {
  type AccountLimits,
  changeAccountLimits,
  listAccountLimits,
} from '../../engine/dispatch/account-limits.ts';
import { rateLimitTable } from '../../report/rate-limits.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

type AskedLimits = Partial<Record<keyof RateLimits, number | 'file'>>;

export type LimitOptions = AskedLimits & { readonly json?: true };

export async function limitsAction(
  shell: Shell,
  account: string | undefined,
  { json, ...asked }: LimitOptions,
): Promise<void> {
  const limits = await limitsOf(shell, account, changesOf(asked));
  if (json) for (const one of limits) shell.print(JSON.stringify(toJson(one)));
  else shell.print(limits.length === 0 ? 'No accounts.' : rateLimitTable(limits, shell.screen));
}

function limitsOf(
  shell: Shell,
  account: string | undefined,
  changes: Partial<RateLimits>,
): Promise<AccountLimits[]> {
  if (Object.keys(changes).length === 0)
    return withLedgerToRead(shell, (context) => listAccountLimits(context, shell.settings, account));
  if (account !== undefined)
    return withLedger(shell, (context) => changeAccountLimits(context, shell.settings, account, { changes }));
  const what = 'The change needs an account: volley account limits <account> …';
  throw new InputError([{ where: 'account limits', what }]);
}

function changesOf({ requestsPerSecond, recipientsPerSecond }: AskedLimits): Partial<RateLimits> {
  return {
    ...(requestsPerSecond !== undefined && { requestsPerSecond: toSetLimit(requestsPerSecond) }),
    ...(recipientsPerSecond !== undefined && { recipientsPerSecond: toSetLimit(recipientsPerSecond) }),
  };
}

function toSetLimit(limit: number | 'file'): number | null {
  return limit === 'file' ? null : limit;
}

function toJson({ account, file, set, inForce }: AccountLimits): unknown {
  const valuesOf = (limit: keyof RateLimits) => ({
    file: file[limit],
    set: set[limit],
    inForce: inForce[limit],
  });
  return {
    account,
    requestsPerSecond: valuesOf('requestsPerSecond'),
    recipientsPerSecond: valuesOf('recipientsPerSecond'),
  };
}
