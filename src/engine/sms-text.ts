import { mergedText } from '../campaign/merge.ts';
import { type Destination, destinationFields, type Envelope, type MessageFields } from '../domain.ts';
import { countSmsParts } from './sms-parts.ts';

/** SMS parts of what a contact is sent, as far as they can be told before the service fills its own placeholders. */
export type PartsCounter = (envelope: Envelope, destination: MessageFields, address: string) => number;

/** Counts each envelope's text once where nothing of the contact is merged into it. */
export function openPartsCounter(): PartsCounter {
  const known = new WeakMap<Envelope, { readonly parts: number } | undefined>();
  return (envelope, destination, address) => {
    const found = known.get(envelope);
    if (found) return found.parts;
    const text = envelope.fields['Message'] ?? '';
    const converts = envelope.fields['CharacterConversion'] === 'true';
    const read: Destination = { Recipient: address, ...destination };
    const parts = countSmsParts(mergedText(text, read), converts);
    if (!destinationFields.some((field) => text.includes(`[[${field}]]`))) known.set(envelope, { parts });
    return parts;
  };
}
