import type { Composition } from '../../campaign/composition.ts';
import { columnWithSources } from '../../campaign/mapping.ts';
import type { Segment, Template } from '../../campaign/placeholders.ts';
import type { CostlyCharacters } from '../../domain/contact-notes.ts';
import type { PlacedCause, SmsCause, SmsEncoding } from '../../domain/sms.ts';
import {
  countSeptets,
  countSmsParts,
  fewestGsmParts,
  isGsmText,
  isInSeptets,
  readConverted,
} from './sms-parts.ts';
import { createRewriter, keyOfCause, type Rewritten } from './sms-rewriting.ts';
import type { SmsText } from './sms-text.ts';

/**
 * @param valueIn the contact's values; undefined if all those of the text consist of GSM-7 characters of one septet
 */
type ReadCauses = (
  valueIn: ((column: string) => string) | undefined,
  sms: SmsText,
  converts: boolean,
) => readonly CostlyCharacters[];

/** A piece of a text, and what remains of it when it is rewritten. */
type Piece = { readonly text: string; readonly column: string | null; readonly rewritten: Rewritten };

/**
 * Compares the parts of a text with those it would have if first the campaign's own text, then also the contact's values
 * were written in GSM-7 characters of one septet. Almost all texts have one part or only such characters, and are left
 * at once.
 */
export function createCauseReader(composition: Pick<Composition, 'serviceText' | 'derived'>): ReadCauses {
  const template = composition.serviceText?.template ?? [];
  const isShort = createLengthCheck(template);
  const readPieces = createPieceReader(template);
  return (valueIn, { text, parts }, converts) => {
    if (parts === 1 || (!valueIn && !converts && isShort(text, parts))) return [];
    const encoding: SmsEncoding = isGsmText(converts ? readConverted(text) : text) ? 'GSM-7' : 'UCS-2';
    const pieces = readPieces(valueIn, text, converts, encoding);
    const isCostly = ({ rewritten }: Piece): boolean => rewritten.causes.length > 0;
    const ofMessage = pieces.filter((piece) => piece.column === null && isCostly(piece));
    const ofValues = pieces.filter((piece) => piece.column !== null && isCostly(piece));
    if (ofMessage.length + ofValues.length === 0) return [];

    const count = (isRewritten: (piece: Piece) => boolean): number =>
      countSmsParts(pieces.map((piece) => (isRewritten(piece) ? piece.rewritten.text : piece.text)).join(''));
    const least = Math.min(
      parts,
      count(() => true),
    );
    const own =
      ofMessage.length === 0 ? parts : ofValues.length === 0 ? least : count(({ column }) => column === null);
    // `…` can be longer as three full stops while a value still forces UCS-2.
    const partsWithoutOwn = Math.max(least, Math.min(parts, own));
    const source = (column: string, cause: SmsCause) =>
      valueIn ? findSource(composition, valueIn, column, cause) : null;
    return [
      { encoding, pieces: ofMessage, partsMore: parts - partsWithoutOwn },
      { encoding, pieces: ofValues, partsMore: partsWithoutOwn - least },
    ].flatMap(({ pieces: costly, ...found }) =>
      found.partsMore > 0 ? [{ ...found, causes: placeCauses(costly, source) }] : [],
    );
  };
}

/** Whether a text, whose values are in GSM-7, has no more parts than without all its characters of two septets. */
function createLengthCheck(template: Template): (text: string, parts: number) => boolean {
  const own = template.filter(({ kind }) => kind !== 'service').map(ownText);
  if (own.every(isInSeptets)) return () => true;
  const removable = own.reduce((sum, text) => sum + countSeptets(text) - text.length, 0);
  return own.every(isGsmText)
    ? (text, parts) => fewestGsmParts(text.length - removable) >= parts
    : () => false;
}

function ownText(segment: Segment): string {
  return segment.kind === 'column' ? segment.fallback : segment.text;
}

const servicePlaceholder = /(\[\[[^[\]]*\]\])/;

type ReadPieces = (
  valueIn: ((column: string) => string) | undefined,
  text: string,
  converts: boolean,
  encoding: SmsEncoding,
) => readonly Piece[];

/** The campaign's own pieces are rewritten once. */
function createPieceReader(template: Template): ReadPieces {
  const rewrite = createRewriter();
  const readOwn = (converts: boolean, encoding: SmsEncoding): readonly Piece[] =>
    template.map((segment) => {
      const text = converts ? readConverted(ownText(segment)) : ownText(segment);
      // The service needs the brackets of its placeholders.
      const rewritten = segment.kind === 'service' ? { text, causes: [] } : rewrite(text, encoding);
      return { text, column: null, rewritten };
    });
  // All that is costly is the campaign's own, so that values need no place.
  const readWhole = (text: string, converts: boolean, encoding: SmsEncoding): readonly Piece[] =>
    text.split(servicePlaceholder).map((piece, index) => {
      const sent = converts ? readConverted(piece) : piece;
      const rewritten = index % 2 === 1 ? { text: sent, causes: [] } : rewrite(sent, encoding);
      return { text: sent, column: null, rewritten };
    });
  const own = new Map<string, readonly Piece[]>();
  return (valueIn, text, converts, encoding) => {
    if (!valueIn) return readWhole(text, converts, encoding);
    const key = `${converts} ${encoding}`;
    const ownPieces = own.get(key) ?? readOwn(converts, encoding);
    own.set(key, ownPieces);
    return ownPieces.map((piece, index) => {
      const segment = template[index];
      const value = segment?.kind === 'column' ? valueIn(segment.column) : '';
      if (segment?.kind !== 'column' || value === '') return piece;
      const sent = converts ? readConverted(value) : value;
      return { text: sent, column: segment.column, rewritten: rewrite(sent, encoding) };
    });
  };
}

/** A column that the campaign composes of others is named by the one with the cause; null for its own text. */
function findSource(
  { derived }: Pick<Composition, 'derived'>,
  valueIn: (column: string) => string,
  column: string,
  cause: SmsCause,
): string | null {
  if (cause.kind === 'letters' || !derived.has(column)) return column;
  const sources = columnWithSources(derived, column).slice(0, -1);
  return sources.find((source) => valueIn(source).includes(cause.character)) ?? null;
}

/** Lists each cause once for each column, sorted. */
function placeCauses(
  pieces: readonly Piece[],
  findSource: (column: string, cause: SmsCause) => string | null,
): readonly PlacedCause[] {
  const placed = new Map<string, PlacedCause>();
  for (const { column, rewritten } of pieces) {
    for (const cause of rewritten.causes) {
      const source = column === null ? null : findSource(column, cause);
      placed.set(`${keyOfCause(cause)}\0${source ?? '\0'}`, { ...cause, column: source });
    }
  }
  return [...placed.keys()].sort().flatMap((key) => placed.get(key) ?? []);
}
