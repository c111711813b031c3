import type { RenderedFile, RenderedMessage } from '../../domain/rendered-message.ts';
import { count } from '../../platform/sentence.ts';
import { type Html, html } from './html.ts';
import { factList, formatFileSize, showText, showTextOr } from './preview-text.ts';

/** Sheets: the text of the message, then each document. */
export function faxPart(message: RenderedMessage): Html {
  const { fields, files } = message;
  const text = fields['Message'] ?? '';
  const sheets = [
    ...(text === '' ? [] : [html`<div class="plain" dir="auto" tabindex="0">${showText(text)}</div>`]),
    ...files.map(documentSheet),
  ].map(
    (sheet) => html`<div class="sheet">${linePart(message)}${sheet}</div>
`,
  );
  return html`<div class="fax">
${sheets}</div>
${factList([
  ['Pages', pagesText(files)],
  ['Resolution', showTextOr(fields['Resolution'], '')],
])}`;
}

function pagesText(files: readonly RenderedFile[]): string {
  if (files.length === 0) return '';
  const known = files.flatMap(({ pages }) => pages ?? []);
  const all = known.reduce((sum, pages) => sum + pages, 0);
  if (known.length === files.length) return `${count(all, 'page')} of documents`;
  return `${all === 0 ? 'not known' : `${count(all, 'page')} and more`}: a document does not say how many it has`;
}

/** The line that fax machines print at the top. */
function linePart({ destination: { Recipient, Attention = '' }, fields }: RenderedMessage): Html {
  const shown = [
    ['From', fields['CSID'] ?? ''] as const,
    ['To', Recipient] as const,
    ['Attention', Attention] as const,
  ]
    .filter(([, value]) => value !== '')
    .map(
      ([name, value], index) =>
        html`${index > 0 && ' '}<span>${name}: <b dir="auto">${showText(value)}</b></span>`,
    );
  return html`<div class="faxline">${shown}</div>`;
}

function documentSheet(file: RenderedFile, index: number): Html {
  return html`<p class="document" dir="auto"><b>${file.name}</b><br><small>document ${index + 1}, ${formatFileSize(file)}</small></p>`;
}
