import type { Envelope } from '../../domain/message.ts';

/** Envelopes that are remembered, and their characters. */
const mostEnvelopes = 8_192;
const mostCharacters = 4 * 1024 * 1024;

/**
 * Reads something of an envelope once, as long as it is remembered: contacts that come soon after one another share the
 * object. Where each contact has its own there are millions, which a WeakMap would have the garbage collector look through.
 */
export function rememberByEnvelope<Fact extends NonNullable<unknown>>(
  read: (envelope: Envelope) => Fact,
): (envelope: Envelope) => Fact {
  const known = new Map<Envelope, Fact>();
  let characters = 0;
  return (envelope) => {
    const before = known.get(envelope);
    if (before !== undefined) return before;
    if (known.size >= mostEnvelopes || characters >= mostCharacters) {
      known.clear();
      characters = 0;
    }
    const fact = read(envelope);
    known.set(envelope, fact);
    for (const name in envelope.fields) characters += envelope.fields[name]?.length ?? 0;
    return fact;
  };
}
