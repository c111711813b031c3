import type { Definition } from '../../campaign/definition.ts';
import type { Channel } from '../../domain/message.ts';
import type { SuppressedReason } from '../../domain/reasons.ts';
import type { Account } from '../../gateway/account.ts';
import {
  type SuppressedAddress,
  streamSuppressedAddresses,
} from '../../ledger/planning/remove-suppressed.ts';
import { inSnapshot } from '../../ledger/session.ts';
import { type HashKey, listHashedSuppressions, requireHashKey } from '../../ledger/suppressions/hash.ts';
import type { EngineContext } from '../context.ts';
import { toFrequencyCap } from './frequency-cap.ts';
import type { SuppressionLists } from './suppression-lists.ts';

type FindSuppressedReason = (address: string, subAccount: string) => SuppressedReason | undefined;

/** Reads the reasons in the priority of a run: the campaign's own lists, suppressions, the frequency cap. */
export async function readSuppressedReasons(
  definition: Definition,
  { name, suppressionsOf = name }: Pick<Account, 'name' | 'suppressionsOf'>,
  lists: SuppressionLists,
  context: Pick<EngineContext, 'now'> & Partial<Pick<EngineContext, 'ledger'>>,
): Promise<FindSuppressedReason> {
  type Reason = SuppressedAddress & { readonly recent?: boolean };
  const reasons = new Map<string, Reason[]>();
  const add = async (batches: AsyncIterable<readonly Reason[]>): Promise<void> => {
    for await (const batch of batches) {
      for (const entry of batch) {
        const known = reasons.get(entry.address);
        if (known) known.push(entry);
        else reasons.set(entry.address, [entry]);
      }
    }
  };
  await add(lists.addresses);
  let findHashedReason: FindSuppressedReason = () => undefined;
  const { ledger, now } = context;
  if (ledger) {
    const { hashKey, pool } = ledger;
    const cap = toFrequencyCap(definition, now());
    await inSnapshot(pool, async (client) => {
      findHashedReason = await readHashedReasons(client, definition.channel, suppressionsOf, hashKey);
      await add(streamSuppressedAddresses(client, definition.channel, suppressionsOf, cap));
    });
  }
  return (address, subAccount) => {
    const known = reasons
      .get(address)
      ?.find((entry) => entry.subAccount === '' || entry.subAccount === subAccount);
    return known && !known.recent ? known.detail : (findHashedReason(address, subAccount) ?? known?.detail);
  };
}

async function readHashedReasons(
  client: Parameters<typeof listHashedSuppressions>[0],
  channel: Channel,
  account: string,
  key: HashKey | null,
): Promise<FindSuppressedReason> {
  const subAccounts = new Map<string, string[]>();
  for (const { hash, subAccount } of await listHashedSuppressions(client, channel, account)) {
    const known = hash.toString('hex');
    subAccounts.set(known, [...(subAccounts.get(known) ?? []), subAccount]);
  }
  await requireHashKey(client, key);
  if (key === null || subAccounts.size === 0) return () => undefined;
  return (address, subAccount) => {
    const found = subAccounts
      .get(key.hash(channel, address).toString('hex'))
      ?.find((each) => each === '' || each === subAccount);
    return found === undefined ? undefined : { kind: 'suppressed_hash', channel, subAccount: found };
  };
}
