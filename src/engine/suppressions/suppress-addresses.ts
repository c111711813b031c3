import { suppressionSourceOf } from '../../domain/account-sharing.ts';
import { InputError } from '../../domain/problems.ts';
import { inTransaction } from '../../ledger/session.ts';
import { addSuppressions } from '../../ledger/suppressions/add.ts';
import {
  listSuppressionsOf,
  removeSuppressions,
  type SuppressionKey,
} from '../../ledger/suppressions/remove.ts';
import { didYouMean } from '../../platform/suggestions.ts';
import { auditEntry } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { accountsPath } from '../definition-files.ts';
import { loadAccounts } from '../load-definition.ts';
import type { Settings } from '../settings.ts';

/** All or none. @param run whose recipients they are. @returns the number of new ones; others keep their reason */
export async function suppressAddresses(
  context: EngineContext,
  keys: readonly SuppressionKey[],
  reason: string,
  run?: string,
): Promise<number> {
  const { ledger, now } = context;
  const common = { reason, by: context.actor.name, source: 'operator', createdAt: now() } as const;
  return inTransaction(ledger.pool, async (client) => {
    const added = await addSuppressions(
      client,
      keys.map((key) => ({ ...key, ...common })),
    );
    const details = { ...describeScope(keys), reason, added };
    await auditEntry(context, { action: 'suppressions added', run, details })(client);
    return added;
  });
}

/**
 * A suppression under an unknown name would never apply.
 *
 * @param name undefined for all accounts
 * @returns the account whose suppressions it shares; empty for all
 * @throws InputError when the accounts file is faulty or lacks the account
 */
export async function requireSuppressionAccount(
  name: string | undefined,
  settings: Settings,
): Promise<string> {
  if (name === undefined) return '';
  const { names, sharing } = await loadAccounts(settings);
  if (names.includes(name)) return suppressionSourceOf(sharing, name);
  const what = `${accountsPath(settings)} has no account "${name}".${didYouMean(name, names)}`;
  throw new InputError([{ where: '--account', what }]);
}

export type Unsuppressed = {
  readonly removed: readonly SuppressionKey[];
  readonly missing: readonly SuppressionKey[];
  /** Suppressions of these addresses that remain, such as for one account. */
  readonly remaining: readonly SuppressionKey[];
};

/**
 * All or none.
 *
 * @param reason for the audit trail
 * @throws InputError when some are hashed with another key
 */
export async function unsuppressAddresses(
  context: EngineContext,
  keys: readonly SuppressionKey[],
  reason?: string,
): Promise<Unsuppressed> {
  const { ledger, now } = context;
  return inTransaction(ledger.pool, async (client) => {
    const removed = await removeSuppressions(client, keys, now(), ledger.hashKey);
    const details = { ...describeScope(keys), reason, removed: removed.length };
    await auditEntry(context, { action: 'suppressions removed', details })(client);
    const found = new Set(removed.map(keyText));
    const missing = keys.filter((key) => !found.has(keyText(key)));
    return { removed, missing, remaining: await listSuppressionsOf(client, missing) };
  });
}

function keyText({ channel, address, account = '', subAccount }: SuppressionKey): string {
  return JSON.stringify([channel, address, account, subAccount]);
}

/** Describes the addresses without revealing them. */
function describeScope(keys: readonly SuppressionKey[]) {
  return {
    channels: [...new Set(keys.map(({ channel }) => channel))],
    accounts: [...new Set(keys.map(({ account = '' }) => account))].filter((name) => name !== ''),
    subAccounts: [...new Set(keys.map(({ subAccount }) => subAccount))].filter((name) => name !== ''),
    asked: keys.length,
  };
}
