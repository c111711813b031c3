import type { RenderedMessage, RenderedSms } from '../../domain/rendered-message.ts';
import type { SmsCause } from '../../domain/sms.ts';
import { insteadText, nameOfCause } from '../part-causes.ts';
import { type Html, html } from './html.ts';
import { factList, showText, showTextOr } from './preview-text.ts';

/** A phone with the message, its parts divided. */
export function smsPart({ fields, sms, files }: RenderedMessage): Html | undefined {
  if (!sms) return undefined;
  const hint = sms.parts.length > 1 ? '; their numbers stand where they begin' : '';
  return html`<div class="phone">
<div class="caller" dir="auto">${showTextOr(fields['FromNumber'], 'the number of the service')}</div>
<div class="screen" tabindex="0">
<div class="bubble" dir="auto">${bubbleText(sms)}</div>
</div>
</div>
${factList([
  ['Parts', `${sms.parts.length} in ${sms.encoding}${hint}`],
  ['Characters', countCharacters(sms)],
  ['Forces UCS-2', formatCauses(sms.causes)],
  ['Files behind links', files.map(({ name }) => name).join(', ')],
])}`;
}

function countCharacters({ parts, charactersPerPart }: RenderedSms): string {
  const last = parts.at(-1)?.characters ?? 0;
  return parts.length < 2
    ? `${last} of ${charactersPerPart}`
    : `${charactersPerPart} fit into each part; the last has ${last}`;
}

function formatCauses(causes: readonly SmsCause[]): string {
  return causes.length === 0 ? '' : `${causes.map(nameOfCause).join(', ')}: ${insteadText(causes)}`;
}

/** The text with a number where each further part begins. */
function bubbleText({ parts, causes }: RenderedSms): readonly Html[] {
  const numberAt = new Map<number, number>();
  let length = 0;
  for (const [index, { text }] of parts.entries()) {
    if (index > 0) numberAt.set(length, index + 1);
    length += text.length;
  }
  const readPieces = createPieceReader(causes);
  let position = 0;
  const shown: Html[] = [];
  for (const { text, mark } of readPieces(parts.map((part) => part.text).join(''))) {
    for (const fragment of splitAt(text, position, numberAt)) {
      const number = numberAt.get(position);
      if (number !== undefined)
        shown.push(
          html`<span class="cut" title="part ${number} of ${parts.length} begins here">${number}</span>`,
        );
      shown.push(mark(showText(fragment)));
      position += fragment.length;
    }
  }
  return shown;
}

function splitAt(text: string, position: number, cuts: ReadonlyMap<number, number>): string[] {
  const inside = [...cuts.keys()].map((cut) => cut - position).filter((cut) => cut > 0 && cut < text.length);
  return [0, ...inside].map((from, index) => text.slice(from, inside[index] ?? text.length));
}

type Piece = { readonly text: string; readonly mark: (text: Html) => Html };

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
      const cause = costly.get(piece);
      return {
        text: piece,
        mark: index % 2 === 0 ? (shown) => shown : cause ? markCostly(cause) : markLater,
      };
    });
}

function markLater(shown: Html): Html {
  return html`<span class="later" title="filled by the service">${shown}</span>`;
}

function markCostly(cause: SmsCause): Piece['mark'] {
  const why = `${nameOfCause(cause)} forces UCS-2: ${insteadText([cause])}`;
  const title = why.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '');
  return (shown) => html`<mark title="${title}">${shown}</mark>`;
}

function escapeExpression(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
