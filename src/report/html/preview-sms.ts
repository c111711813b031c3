import { escapeHtml } from '../../domain/html.ts';
import type { RenderedMessage, RenderedSms } from '../../domain/rendered-message.ts';
import type { SmsCause } from '../../domain/sms.ts';
import { insteadText, nameOfCause } from '../part-causes.ts';
import { formatFacts, showText } from './preview-text.ts';
import { escapeText } from './text.ts';

/** A phone with the message, its parts divided. */
export function formatSms({ fields, sms, files }: RenderedMessage): string {
  if (!sms) return '';
  const sender = fields['FromNumber'] ?? '';
  return `<div class="phone">
<div class="caller" dir="auto">${sender === '' ? 'the number of the service' : showText(sender)}</div>
<div class="screen" tabindex="0">
<div class="bubble" dir="auto">${formatParts(sms)}</div>
</div>
</div>
${formatFacts([
  [
    'Parts',
    `${sms.parts.length} in ${sms.encoding}${sms.parts.length > 1 ? '; their numbers stand where they begin' : ''}`,
  ],
  ['Characters', countCharacters(sms)],
  ['Forces UCS-2', formatCauses(sms.causes)],
  ['Files behind links', files.map(({ name }) => escapeText(name)).join(', ')],
])}`;
}

function countCharacters({ parts, charactersPerPart }: RenderedSms): string {
  const last = parts.at(-1)?.characters ?? 0;
  return parts.length < 2
    ? `${last} of ${charactersPerPart}`
    : `${charactersPerPart} fit into each part; the last has ${last}`;
}

function formatCauses(causes: readonly SmsCause[]): string {
  if (causes.length === 0) return '';
  return `${causes.map((cause) => escapeText(nameOfCause(cause))).join(', ')}: ${escapeText(insteadText(causes))}`;
}

/** The text with a number where each further part begins. */
function formatParts({ parts, causes }: RenderedSms): string {
  const numberAt = new Map<number, number>();
  let length = 0;
  for (const [index, { text }] of parts.entries()) {
    if (index > 0) numberAt.set(length, index + 1);
    length += text.length;
  }
  const readPieces = createPieceReader(causes);
  let position = 0;
  let html = '';
  for (const { text, open, close } of readPieces(parts.map((part) => part.text).join(''))) {
    for (const fragment of splitAt(text, position, numberAt)) {
      const number = numberAt.get(position);
      if (number !== undefined)
        html += `<span class="cut" title="part ${number} of ${parts.length} begins here">${number}</span>`;
      html += `${open}${showText(fragment)}${close}`;
      position += fragment.length;
    }
  }
  return html;
}

function splitAt(text: string, position: number, cuts: ReadonlyMap<number, number>): string[] {
  const inside = [...cuts.keys()].map((cut) => cut - position).filter((cut) => cut > 0 && cut < text.length);
  return [0, ...inside].map((from, index) => text.slice(from, inside[index] ?? text.length));
}

type Piece = { readonly text: string; readonly open: string; readonly close: string };

/** The service's placeholders and the characters that force UCS-2 stand out. */
function createPieceReader(causes: readonly SmsCause[]): (text: string) => Piece[] {
  const costly = new Map(
    causes.flatMap((cause) => (cause.kind === 'character' ? [[cause.character, cause] as const] : [])),
  );
  const alternatives = [...costly.keys()]
    .sort((one, other) => other.length - one.length)
    .map((character) => `|${escapeExpression(character)}`);
  const special = new RegExp(`(\\[\\[[^[\\]]*\\]\\]${alternatives.join('')})`, 'u');
  return (text) =>
    text.split(special).map((piece, index) => {
      if (index % 2 === 0) return { text: piece, open: '', close: '' };
      const cause = costly.get(piece);
      if (!cause)
        return { text: piece, open: '<span class="later" title="filled by the service">', close: '</span>' };
      const why = `${nameOfCause(cause)} forces UCS-2: ${insteadText([cause])}`;
      return { text: piece, open: `<mark title="${escapeHtml(escapeTitle(why))}">`, close: '</mark>' };
    });
}

function escapeTitle(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '');
}

function escapeExpression(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
