import type { Definition } from '../../campaign/definition.ts';
import type { ContactIdentity } from '../../domain/contacts.ts';
import type { ReachedReason } from '../../domain/reasons.ts';
import type { ReachedContacts } from '../../domain/rejected-contacts.ts';
import { streamReached, toComparedRuns } from '../../ledger/planning/remove-reached.ts';
import { inSnapshot } from '../../ledger/session.ts';
import { formatReason } from '../../platform/reason-text.ts';
import type { EngineContext } from '../context.ts';
import { noOrigins, type Origins, readOrigins } from './origins.ts';

/** For the preview: finds contacts that their origins have reached, may have reached or will still send to. */
export type ReachedFinder = {
  /** Call it before the contacts of each batch, with the origins named so far. */
  readonly readOrigins: (found: ReadonlySet<string>) => Promise<void>;
  /** Counts the contact, too. */
  readonly findReachedReason: (address: string, key: string | undefined) => ReachedReason | undefined;
  readonly origins: () => Origins;
  readonly counts: () => readonly ReachedContacts[];
};

/**
 * An origin is the run that fixed contacts come from; rows name it. A preview reads once, and compares its first rows when it
 * knows the origins of `originRows` rows. A run compares all rows, in SQL (`remove-reached.ts`).
 */
/** About 30 MiB of contacts. */
export const originRows = 50_000;

export function createReachedFinder(
  { ledger }: Partial<Pick<EngineContext, 'ledger'>>,
  { campaign, channel }: Pick<Definition, 'campaign' | 'channel'>,
  named: string | undefined,
  identity: ContactIdentity,
): ReachedFinder {
  let byAddress: ReadonlyMap<string, ReachedReason> = new Map();
  let byKey: ReadonlyMap<string, ReachedReason> = new Map();
  const counts = new Map<string, { rows: number; detail: ReachedReason }>();
  let origins = noOrigins;
  let known = -1;
  return {
    async readOrigins(found) {
      if (!ledger || found.size === known) return;
      known = found.size;
      origins = await readOrigins(ledger.pool, campaign, named, found);
      const runs = toComparedRuns(origins.relatives, identity);
      if (runs.runs.length === 0) return;
      const addresses = new Map<string, ReachedReason>();
      const keys = new Map<string, ReachedReason>();
      await inSnapshot(ledger.pool, async (client) => {
        for await (const batch of streamReached(client, channel, runs))
          for (const { address, key, detail } of batch) {
            // Without `contacts.key`, contacts are compared by address. A uuid of the key is its digest.
            if (key === null) addresses.set(address, detail);
            else keys.set(key.replaceAll('-', ''), detail);
          }
      });
      byAddress = addresses;
      byKey = keys;
    },
    findReachedReason(address, key) {
      const detail = byKey.get(key ?? '') ?? byAddress.get(address);
      if (detail === undefined) return undefined;
      const words = formatReason(detail);
      counts.set(words, { rows: (counts.get(words)?.rows ?? 0) + 1, detail });
      return detail;
    },
    counts: () =>
      [...counts]
        .toSorted(([words, one], [others, other]) => other.rows - one.rows || (words < others ? -1 : 1))
        .map(([, counted]) => counted),
    origins: () => origins,
  };
}
