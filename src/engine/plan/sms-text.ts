import { mergeText } from '../../campaign/merge.ts';
import type { Destination, Envelope } from '../../domain/message.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';
import { countSmsParts } from './sms-parts.ts';

export type SmsText = { readonly text: string; readonly parts: number };

/** Reads SMS texts before the service fills its own placeholders. Each is parsed once, and one without values counted once. */
export function createSmsReader(): (envelope: Envelope, destination: Destination) => SmsText {
  const readerOf = memoizeByEnvelope(({ fields }) => {
    const written = fields['Message'] ?? '';
    const { constant, mergedFor } = mergeText(written);
    const read = (text: string): SmsText => {
      return { text, parts: countSmsParts(text, fields['CharacterConversion'] === 'true') };
    };
    if (!constant) return (destination: Destination) => read(mergedFor(destination));
    const same = read(written);
    return () => same;
  });
  return (envelope, destination) => readerOf(envelope)(destination);
}
