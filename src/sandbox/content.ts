import { SegmentedMessage } from 'sms-segments-calculator';
import type { Destination, SendRequest } from '../domain/message.ts';
import type { Units } from '../wire/delivery-report-values.ts';
import { mergedByService } from '../wire/service-merge.ts';

/** What decides a message's size; small enough to keep. */
export type Content =
  | { readonly kind: 'sms'; readonly text: string; readonly characterConversion: boolean }
  | { readonly kind: 'measured'; readonly units: Units }
  /** The recipient decides how long it takes. */
  | { readonly kind: 'call' };

/** Characters of a fax's text per page. */
const charactersPerPage = 3000;

export function contentOf(request: SendRequest): Content {
  const { channel, fields, files } = request;
  if (channel === 'voice' || channel === 'tts') return { kind: 'call' };
  if (channel === 'sms') {
    const characterConversion = fields['CharacterConversion'] === 'true';
    return { kind: 'sms', text: fields['Message'] ?? '', characterConversion };
  }
  if (channel === 'fax') {
    const textPages = Math.ceil((fields['Message'] ?? '').length / charactersPerPage);
    return { kind: 'measured', units: { FaxPages: files.length + textPages } };
  }
  const texts = ['EmailSubject', 'MessagePlain', 'MessageHTML'].map((name) => fields[name] ?? '');
  const textBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const fileBytes = files.reduce((sum, { Data }) => sum + Buffer.byteLength(Data, 'base64'), 0);
  return { kind: 'measured', units: { EmailSize: textBytes + fileBytes } };
}

export function unitsFor(content: Exclude<Content, { kind: 'call' }>, destination: Destination): Units {
  if (content.kind === 'measured') return content.units;
  const text = mergeDestination(content.text, destination);
  return { SMSParts: new SegmentedMessage(text, 'auto', content.characterConversion).segmentsCount };
}

const mergeable: ReadonlySet<string> = new Set(mergedByService('rest-2.02', 'sms')?.destinationFields);

/** Merges destination fields into an SMS (interface.md, 2.2). Other placeholders stay unchanged. */
export function mergeDestination(text: string, destination: Destination): string {
  const values = new Map<string, string>(Object.entries(destination));
  return text.replaceAll(/\[\[([^[\]]*)\]\]/g, (placeholder, name: string) =>
    mergeable.has(name) ? (values.get(name) ?? '') : placeholder,
  );
}
