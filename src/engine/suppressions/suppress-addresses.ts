import { suppressionSourceOf } from '../../domain/account-sharing.ts';
import { InputError } from '../../domain/problems.ts';
import { readSharing } from '../../gateway/account-sharing.ts';
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
import { accountsPath, readText } from '../definition-files.ts';
import type { Settings } from '../settings.ts';

/** All or none. @returns how many are new; one that is suppressed already keeps its earlier reason */
export async function suppressAddresses(
  context: EngineContext,
  keys: readonly SuppressionKey[],
  reason: string,
): Promise<number> {
  const { ledger, now } = context;
  const others = { reason, source: 'operator', createdAt: now() } as const;
  return inTransaction(ledger.pool, async (client) => {
    const added = await addSuppressions(
      client,
      keys.map((key) => ({ ...key, ...others })),
    );
    const details = { ...describeScope(keys), reason, added };
    await auditEntry(context, { action: 'suppressions added', details })(client);
    return added;
  });
}

/**
 * The account whose suppressions an account goes by: a suppression under a name that there is not would never hold.
 *
 * @param name undefined: all accounts
 * @returns empty for all accounts
 * @throws InputError when the accounts file has no such account, or is faulty
 */
export async function requireSuppressionAccount(
  name: string | undefined,
  settings: Settings,
): Promise<string> {
  if (name === undefined) return '';
  const path = accountsPath(settings);
  const { names, ...sharing } = readSharing(await readText(path, settings, 'accounts'), path);
  if (names.includes(name)) return suppressionSourceOf(sharing, name);
  const what = `${path} has no account "${name}".${didYouMean(name, names)}`;
  throw new InputError([{ where: '--account', what }]);
}

export type Unsuppressed = {
  readonly removed: readonly SuppressionKey[];
  readonly missing: readonly SuppressionKey[];
  /** How the addresses of these are still suppressed, such as for one account. */
  readonly others: readonly SuppressionKey[];
};

/** All or none. @throws InputError when some are hashed, and this is not their key */
export async function unsuppressAddresses(
  context: EngineContext,
  keys: readonly SuppressionKey[],
): Promise<Unsuppressed> {
  const { ledger, now } = context;
  return inTransaction(ledger.pool, async (client) => {
    const removed = await removeSuppressions(client, keys, now(), ledger.hashKey);
    const details = { ...describeScope(keys), removed: removed.length };
    await auditEntry(context, { action: 'suppressions removed', details })(client);
    const found = new Set(removed.map(keyText));
    const missing = keys.filter((key) => !found.has(keyText(key)));
    return { removed, missing, others: await listSuppressionsOf(client, missing) };
  });
}

function keyText({ channel, address, account = '', subAccount }: SuppressionKey): string {
  return JSON.stringify([channel, address, account, subAccount]);
}

/** What may be told of addresses without telling them. */
function describeScope(keys: readonly SuppressionKey[]) {
  return {
    channels: [...new Set(keys.map(({ channel }) => channel))],
    accounts: [...new Set(keys.map(({ account = '' }) => account))].filter((name) => name !== ''),
    subAccounts: [...new Set(keys.map(({ subAccount }) => subAccount))].filter((name) => name !== ''),
    asked: keys.length,
  };
}
