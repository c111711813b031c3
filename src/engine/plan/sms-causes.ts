import type { Composition } from '../../campaign/composition.ts';
import type { ValueIn } from '../../campaign/invalid.ts';
import { columnWithSources } from '../../campaign/mapping.ts';
import { columnsOf } from '../../campaign/placeholders.ts';
import type { CostlyCharacters } from '../../domain/contact-notes.ts';
import type { PlacedCause, SmsCause, SmsEncoding } from '../../domain/sms.ts';
import { memoize } from '../../platform/memoize.ts';
import { countSmsParts, isGsmText, readConverted } from './sms-parts.ts';
import { createRewriter, keyOfCause } from './sms-rewriting.ts';
import type { SmsText } from './sms-text.ts';

/**
 * @param valueIn the contact's values; undefined if all those of the text consist of GSM-7 characters of one septet
 * @returns undefined if no character costs a part
 */
type ReadCauses = (
  valueIn: ValueIn | undefined,
  sms: SmsText,
  converts: boolean,
) => CostlyCharacters | undefined;

const servicePlaceholder = /(\[\[[^[\]]*\]\])/;

/**
 * Compares the parts of a text with those it would have in GSM-7 characters of one septet. Almost all texts have one part or
 * only such characters, and are left at once.
 */
export function createCauseReader({
  serviceText,
  derived,
}: Pick<Composition, 'serviceText' | 'derived'>): ReadCauses {
  const rewrite = createRewriter();
  const template = serviceText?.template ?? [];
  const columns = [
    ...new Set(columnsOf(template).flatMap((column) => columnWithSources(derived, column))),
  ].filter((column) => !derived.has(column));
  const ownText = template
    .map((segment) =>
      segment.kind === 'column' ? segment.fallback : segment.kind === 'text' ? segment.text : '',
    )
    .join('\0');
  const keysIn = (text: string, encoding: SmsEncoding): ReadonlySet<string> =>
    new Set(rewrite(text, encoding).causes.map(keyOfCause));
  const ownKeys = memoize((encoding: SmsEncoding) => keysIn(ownText, encoding));
  const place = (cause: SmsCause, encoding: SmsEncoding, valueIn: ValueIn | undefined): PlacedCause[] => {
    const key = keyOfCause(cause);
    const found = valueIn ? columns.filter((column) => keysIn(valueIn(column), encoding).has(key)) : [];
    const places = found.length === 0 || ownKeys(encoding).has(key) ? [null, ...found] : found;
    return places.map((column) => ({ ...cause, column }));
  };
  return (valueIn, { text, parts }, converts) => {
    if (parts === 1) return undefined;
    const asSent = (piece: string): string => (converts ? readConverted(piece) : piece);
    const encoding: SmsEncoding = isGsmText(asSent(text)) ? 'GSM-7' : 'UCS-2';
    const causes = new Map<string, SmsCause>();
    // The service needs the brackets of its placeholders.
    const pieces = text.split(servicePlaceholder).map((piece, index) => {
      if (index % 2 === 1) return piece;
      const rewritten = rewrite(asSent(piece), encoding);
      for (const cause of rewritten.causes) causes.set(keyOfCause(cause), cause);
      return rewritten.text;
    });
    if (causes.size === 0) return undefined;
    const partsMore = parts - countSmsParts(pieces.join(''));
    if (partsMore <= 0) return undefined;
    const sorted = [...causes.keys()].sort().flatMap((key) => causes.get(key) ?? []);
    return { encoding, partsMore, causes: sorted.flatMap((cause) => place(cause, encoding, valueIn)) };
  };
}
