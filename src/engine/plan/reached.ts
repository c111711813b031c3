import type { Definition } from '../../campaign/definition.ts';
import type { ContactIdentity, ReachedContacts } from '../../domain/contacts.ts';
import { comparedRuns, streamReached } from '../../ledger/planning/reached.ts';
import { inSnapshot } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { noOrigins, type Origins, readOrigins } from './origins.ts';

/** For a preview: recipients whom the runs that mended contacts come from reached, may have reached or still will. */
export type ReachedReader = {
  /** Before the contacts of a batch are judged, with the origins that the files have named so far. */
  readonly look: (found: ReadonlySet<string>) => Promise<void>;
  readonly whyReached: (address: string, key: string | undefined) => string | undefined;
  readonly origins: () => Origins;
  readonly reached: () => readonly ReachedContacts[];
};

/**
 * A file names its origins in its rows, so that each holds for the rows from the first batch on that names it; in a run they
 * hold for all rows.
 *
 * @param named the origin that the operator names
 */
export function openReached(
  { ledger }: Partial<Pick<EngineContext, 'ledger'>>,
  { campaign, channel }: Pick<Definition, 'campaign' | 'channel'>,
  named: string | undefined,
  identity: ContactIdentity,
): ReachedReader {
  let byAddress: ReadonlyMap<string, string> = new Map();
  let byKey: ReadonlyMap<string, string> = new Map();
  const counts = new Map<string, number>();
  let origins = noOrigins;
  let known = -1;
  return {
    async look(found) {
      if (!ledger || found.size === known) return;
      known = found.size;
      origins = await readOrigins(ledger.pool, campaign, named, found);
      const runs = comparedRuns(origins.relatives, identity);
      if (runs.runs.length === 0) return;
      const addresses = new Map<string, string>();
      const keys = new Map<string, string>();
      await inSnapshot(ledger.pool, async (client) => {
        for await (const batch of streamReached(client, channel, runs))
          for (const { address, key, detail } of batch) {
            if (key === null) addresses.set(address, detail);
            else keys.set(key.replaceAll('-', ''), detail);
          }
      });
      byAddress = addresses;
      byKey = keys;
    },
    whyReached(address, key) {
      const detail = byKey.get(key ?? '') ?? byAddress.get(address);
      if (detail !== undefined) counts.set(detail, (counts.get(detail) ?? 0) + 1);
      return detail;
    },
    reached: () =>
      [...counts]
        .map(([detail, rows]) => ({ rows, detail }))
        .toSorted((one, other) => other.rows - one.rows || (one.detail < other.detail ? -1 : 1)),
    origins: () => origins,
  };
}
