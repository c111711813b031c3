import { type MergeText, mergeText } from '../../campaign/merge.ts';
import type { Destination, Envelope, MessageFields } from '../../domain/message.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';
import { countSmsParts, fitsOnePart } from './sms-parts.ts';

export type SmsText = { readonly text: string; readonly parts: number };

/** A parsed text; `same` is set when no contact value is merged into it. */
type ParsedText = {
  readonly merge: MergeText;
  readonly converts: boolean;
  readonly same: SmsText | undefined;
};

/** Reads SMS texts before the service fills its own placeholders. */
export function createSmsReader(): (envelope: Envelope, destination: Destination) => SmsText {
  const textOf = memoizeByEnvelope(parseText);
  return (envelope, destination) => {
    const text = textOf(envelope);
    return text.same ?? read(text, destination);
  };
}

/** Most texts are so short that nothing needs to be merged. */
export function createSmsCounter(): (envelope: Envelope, address: string, fields: MessageFields) => number {
  const textOf = memoizeByEnvelope(parseText);
  return (envelope, address, fields) => {
    const text = textOf(envelope);
    if (text.same) return text.same.parts;
    return fitsOnePart(text.merge.lengthFor(address, fields), text.converts)
      ? 1
      : read(text, { Recipient: address, ...fields }).parts;
  };
}

function parseText({ fields }: Envelope): ParsedText {
  const text = fields['Message'] ?? '';
  const merge = mergeText(text);
  const converts = fields['CharacterConversion'] === 'true';
  return {
    merge,
    converts,
    same: merge.constant ? { text, parts: countSmsParts(text, converts) } : undefined,
  };
}

function read({ merge, converts }: ParsedText, destination: Destination): SmsText {
  const text = merge.mergedFor(destination);
  return { text, parts: countSmsParts(text, converts) };
}
