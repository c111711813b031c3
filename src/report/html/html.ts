import { escapeHtml } from '../../domain/html.ts';
import { printable } from '../printable.ts';

/** Markup in which every foreign text is escaped. */
export type Html = { readonly kind: 'html'; readonly text: string };

/** What can be put into a template. */
export type Part = Html | string | number | false | null | undefined | readonly Part[];

/**
 * Escapes every part but `Html`. Nothing is put in for undefined, false and null.
 *
 * @throws Error where escaping would not be enough: outside the quotes of an attribute, only `Html` can be put in
 */
export function html(pieces: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const inTag = placesInTags(pieces);
  let text = pieces[0] ?? '';
  for (const [index, part] of parts.entries()) {
    if (inTag[index] && !isMarkup(part))
      throw new Error('a text stands in a tag outside quotes; quote the attribute');
    text += formatPart(part) + pieces[index + 1];
  }
  return { kind: 'html', text };
}

function formatPart(part: Part): string {
  if (part === false || part === null || part === undefined) return '';
  if (typeof part === 'string') return escapeText(part);
  if (typeof part === 'number') return String(part);
  return 'kind' in part ? part.text : part.map(formatPart).join('');
}

function isMarkup(part: Part): boolean {
  if (part === false || part === null || part === undefined || part === '') return true;
  return typeof part === 'object' && ('kind' in part || part.every(isMarkup));
}

const knownPlaces = new WeakMap<TemplateStringsArray, readonly boolean[]>();

/** Finds out for each part whether it stands in a tag, but not within quotes. It is read once for each template. */
function placesInTags(pieces: TemplateStringsArray): readonly boolean[] {
  const known = knownPlaces.get(pieces);
  if (known) return known;
  let open = '';
  const places = pieces.map((piece) => {
    for (const character of piece) open = nextPlace(open, character);
    return open === '<';
  });
  knownPlaces.set(pieces, places);
  return places;
}

/** @param open what is open: nothing, a tag (`<`), or a quote within it */
function nextPlace(open: string, character: string): string {
  if (open === '') return character === '<' ? '<' : '';
  if (open === '<') return character === '>' ? '' : /["']/.test(character) ? character : '<';
  return character === open ? '<' : open;
}

/** Most cells of a table: nothing in them is escaped. */
const plain = /^[\w .,:;/()@+%#-]*$/;

/** Text for a page, whose characters a browser does not obey. */
export function escapeText(text: string): string {
  return plain.test(text) ? text : escapeHtml(printable(text.toWellFormed()));
}
