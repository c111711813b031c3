import { InputError } from '../../domain/problems.ts';
import type { RateLimits } from '../../domain/rate-limits.ts';
import {
  listRateLimits,
  lockRateLimits,
  readRateLimits,
  setRateLimits,
} from '../../ledger/limits/rate-limits.ts';
import { inTransaction } from '../../ledger/session.ts';
import { didYouMean } from '../../platform/suggestions.ts';
import { audited } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { accountsPath } from '../definition-files.ts';
import { loadAccounts } from '../load-definition.ts';
import type { Settings } from '../settings.ts';

/** Limits in the accounts file, those that an operator set, and those in force. */
export type AccountLimits = {
  readonly account: string;
  readonly file: RateLimits;
  readonly set: RateLimits;
  readonly inForce: RateLimits;
};

export const noLimits: RateLimits = { requestsPerSecond: null, recipientsPerSecond: null };

export function limitsInForce(set: RateLimits, file: RateLimits): RateLimits {
  return {
    requestsPerSecond: set.requestsPerSecond ?? file.requestsPerSecond,
    recipientsPerSecond: set.recipientsPerSecond ?? file.recipientsPerSecond,
  };
}

export function areSameLimits(one: RateLimits, other: RateLimits): boolean {
  return (
    one.requestsPerSecond === other.requestsPerSecond && one.recipientsPerSecond === other.recipientsPerSecond
  );
}

/**
 * Lists the accounts in the order of the accounts file, then those of the ledger alone.
 *
 * @throws InputError for an invalid accounts file or an unknown account
 */
export async function listAccountLimits(
  { ledger }: Pick<EngineContext, 'ledger'>,
  settings: Settings,
  account?: string,
): Promise<AccountLimits[]> {
  const { limits } = await loadAccounts(settings);
  const all = joinLimits(limits, await listRateLimits(ledger.pool));
  if (account === undefined) return all;
  const found = all.filter((one) => one.account === account);
  if (found.length > 0) return found;
  const names = all.map((one) => one.account);
  const what = `There is no account "${account}".${didYouMean(account, names)} The accounts: ${names.join(', ') || 'none'}.`;
  throw new InputError([{ where: accountsPath(settings), what }]);
}

export type LimitsByAccount = ReadonlyMap<string, RateLimits>;

/** Lists the accounts in the order of the accounts file, then those of the ledger alone. */
export function joinLimits(inFile: LimitsByAccount, inLedger: LimitsByAccount): AccountLimits[] {
  return [...new Set([...inFile.keys(), ...inLedger.keys()])].map((account) => {
    const file = inFile.get(account) ?? noLimits;
    const set = inLedger.get(account) ?? noLimits;
    return { account, file, set, inForce: limitsInForce(set, file) };
  });
}

type LimitChange = {
  readonly reason?: string | undefined;
  /** The set limits that the person saw. The change is refused if they have changed since. */
  readonly seen?: RateLimits;
};

function requireUnchanged(account: string, seen: RateLimits, now: RateLimits): void {
  if (areSameLimits(seen, now)) return;
  const what =
    'The limits were changed meanwhile, by another person or by this form itself. The fields show them as they are now.';
  throw new InputError([{ where: `account ${account}`, what }]);
}

/**
 * Changes limits; null returns to the accounts file's limit. Workers follow within half a second.
 *
 * @throws InputError as `listAccountLimits` does
 */
export async function changeAccountLimits(
  context: EngineContext,
  settings: Settings,
  account: string,
  { changes, reason, seen }: LimitChange & { readonly changes: Partial<RateLimits> },
): Promise<AccountLimits[]> {
  const { pool } = context.ledger;
  const act = {
    action: 'limits set',
    subject: account,
    details: { ...changes, ...(reason && { reason }) },
  } as const;
  const known = await audited(context, act, async (writeEntry) => {
    const before = await listAccountLimits(context, settings, account);
    await inTransaction(pool, async (client) => {
      if (seen) requireUnchanged(account, seen, await lockRateLimits(client, account));
      await setRateLimits(client, account, changes);
      await writeEntry(client);
    });
    return before;
  });
  const set = await readRateLimits(pool, account);
  return known.map(({ file }) => ({ account, file, set, inForce: limitsInForce(set, file) }));
}
