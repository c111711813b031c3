import type { Definition } from '../../campaign/definition.ts';
import { streamReached } from '../../ledger/contacts/reached.ts';
import { inSnapshot } from '../../ledger/snapshot.ts';
import type { EngineContext } from '../context.ts';
import { noOrigins, type Origins, readOrigins } from './origins.ts';

/** For a preview: recipients whom the runs that mended contacts come from reached, may have reached or still will. */
export type ReachedReader = {
  /** Before the contacts of a batch are judged, with the origins that the files have named so far. */
  readonly look: (found: ReadonlySet<string>) => Promise<void>;
  /** @param address as it is compared */
  readonly whyReached: (address: string) => string | undefined;
  readonly origins: () => Origins;
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
): ReachedReader {
  let details: ReadonlyMap<string, string> = new Map();
  let origins = noOrigins;
  let known = -1;
  return {
    async look(found) {
      if (!ledger || found.size === known) return;
      known = found.size;
      origins = await readOrigins(ledger.pool, campaign, named, found);
      const runs = origins.relatives;
      if (runs.length === 0) return;
      const read = new Map<string, string>();
      await inSnapshot(ledger.pool, async (client) => {
        for await (const batch of streamReached(client, channel, runs))
          for (const { address, detail } of batch) read.set(address, detail);
      });
      details = read;
    },
    whyReached: (address) => details.get(address),
    origins: () => origins,
  };
}
