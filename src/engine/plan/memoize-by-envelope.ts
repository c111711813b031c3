import { charactersOf } from '../../campaign/envelope.ts';
import type { Envelope } from '../../domain/message.ts';
import { BoundedCache } from '../../platform/bounded-cache.ts';

/** Computes a value once per envelope. Neighbouring contacts share the envelope object. */
export function memoizeByEnvelope<Fact extends NonNullable<unknown>>(
  read: (envelope: Envelope) => Fact,
): (envelope: Envelope) => Fact {
  const known = new BoundedCache<Envelope, Fact>();
  return (envelope) => {
    const before = known.get(envelope);
    if (before !== undefined) return before;
    const fact = read(envelope);
    known.set(envelope, fact, charactersOf(envelope));
    return fact;
  };
}
