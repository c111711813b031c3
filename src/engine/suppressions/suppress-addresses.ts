import { inTransaction } from '../../ledger/connection.ts';
import { addSuppressions } from '../../ledger/suppressions/add.ts';
import { removeSuppressions, type SuppressionKey } from '../../ledger/suppressions/remove.ts';
import { noteOf } from '../audit.ts';
import type { EngineContext } from '../context.ts';

/**
 * Suppresses addresses by an operator's word, all or none.
 *
 * @returns how many are new; one that is suppressed already keeps its earlier reason
 */
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
    const details = { ...scopeOf(keys), reason, added };
    await noteOf(context, { action: 'suppressions added', details })(client);
    return added;
  });
}

/**
 * Lets addresses be sent to again, all or none.
 *
 * @returns those that were suppressed
 * @throws InputError when some are hashed, and this is not their key
 */
export async function unsuppressAddresses(
  context: EngineContext,
  keys: readonly SuppressionKey[],
): Promise<SuppressionKey[]> {
  const { ledger, now } = context;
  return inTransaction(ledger.pool, async (client) => {
    const removed = await removeSuppressions(client, keys, now(), ledger.hashKey);
    const details = { ...scopeOf(keys), removed: removed.length };
    await noteOf(context, { action: 'suppressions removed', details })(client);
    return removed;
  });
}

/** What may be told of addresses without telling them. */
function scopeOf(keys: readonly SuppressionKey[]) {
  return {
    channels: [...new Set(keys.map(({ channel }) => channel))],
    subAccounts: [...new Set(keys.map(({ subAccount }) => subAccount))].filter((name) => name !== ''),
    asked: keys.length,
  };
}
