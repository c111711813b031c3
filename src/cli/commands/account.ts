import { InputError } from '../../domain/problems.ts';
import type { RateLimits } from '../../domain/rate-limits.ts';
import type { AccountLimits } from '../../engine/dispatch/account-limits.ts';
import { argument, defineCommand, defineGroup, option } from '../command.ts';
import { loadRateLimitReader } from '../option-readers.ts';
import { jsonFlag } from '../options.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

const limits = defineCommand({
  description:
    'Shows or changes the rate limits of accounts, also during a run. A limit replaces that of the accounts file until you set it to "file".',
  arguments: [argument('[account]', 'only this account; required for a change')],
  options: [
    option('--requests-per-second <number>', 'such as 50, 0.5 or file', { loadReader: loadRateLimitReader }),
    option('--recipients-per-second <number>', 'such as 2000 or file', { loadReader: loadRateLimitReader }),
    jsonFlag,
  ],
  examples: [
    ['volley account limits', 'show the limits'],
    ['volley account limits main --requests-per-second 20', 'slow an account down'],
  ],
  run: async (shell, [account], { json, ...asked }) => {
    const { limitColumns, limitLines } = await import('../../report/lists/limits.ts');
    const { formatTable } = await import('../../report/table.ts');
    const found = await limitsOf(shell, account, changesOf(asked));
    if (json) for (const one of found) shell.print(JSON.stringify(toJson(one)));
    else if (found.length === 0) shell.print('No accounts.');
    else shell.print(formatTable(limitColumns, found.flatMap(limitLines), shell.screen));
  },
});

export const command = defineGroup('Shows or changes the limits of accounts.', { limits });

async function limitsOf(
  shell: Shell,
  account: string | undefined,
  changes: Partial<RateLimits>,
): Promise<AccountLimits[]> {
  const { changeAccountLimits, listAccountLimits } = await import('../../engine/dispatch/account-limits.ts');
  if (Object.keys(changes).length === 0)
    return withLedgerToRead(shell, (context) => listAccountLimits(context, shell.settings, account));
  if (account !== undefined)
    return withLedger(shell, (context) => changeAccountLimits(context, shell.settings, account, { changes }));
  const what = 'The change needs an account: volley account limits <account> …';
  throw new InputError([{ where: 'account limits', what }]);
}

type AskedLimits = { readonly [Limit in keyof RateLimits]?: number | 'file' };

function changesOf({ requestsPerSecond, recipientsPerSecond }: AskedLimits): Partial<RateLimits> {
  const toSetLimit = (limit: number | 'file') => (limit === 'file' ? null : limit);
  return {
    ...(requestsPerSecond !== undefined && { requestsPerSecond: toSetLimit(requestsPerSecond) }),
    ...(recipientsPerSecond !== undefined && { recipientsPerSecond: toSetLimit(recipientsPerSecond) }),
  };
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
