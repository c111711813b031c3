import { LRUCache } from 'lru-cache';
import type { Envelope } from '../../domain/message.ts';
import { type OrdinaryRequest, readEnvelopes } from '../../ledger/requests/read-contents.ts';
import type { SourceContext } from './request-source.ts';

export type EnvelopeCache = {
  readonly load: (requests: readonly OrdinaryRequest[]) => Promise<ReadonlyMap<number, Envelope>>;
};

const maxEnvelopes = 256;

export function createEnvelopeCache({
  context,
  outageRetry,
  slice,
}: Pick<SourceContext, 'context' | 'outageRetry' | 'slice'>): EnvelopeCache {
  const cache = new LRUCache<number, Envelope>({ max: maxEnvelopes });
  return {
    async load(requests) {
      const loaded = new Map<number, Envelope>();
      const missing = new Set<number>();
      for (const { envelope } of requests) {
        const cached = cache.get(envelope);
        if (cached) loaded.set(envelope, cached);
        else missing.add(envelope);
      }
      if (missing.size === 0) return loaded;
      const rows = await outageRetry.retry(() => readEnvelopes(context.ledger.hot, slice.run, [...missing]));
      for (const { envelope, ...fields } of rows) {
        loaded.set(envelope, fields);
        cache.set(envelope, fields);
      }
      return loaded;
    },
  };
}
