import type { RenderedFile, RenderedMessage } from '../../domain/rendered-message.ts';
import { formatFileSize, formatPages } from './preview-files.ts';
import { formatFacts, showText } from './preview-text.ts';
import { escapeText } from './text.ts';

/** Sheets: the text of the message, then each document. */
export function formatFax(message: RenderedMessage): string {
  const { fields, files } = message;
  const text = fields['Message'] ?? '';
  const sheets = [
    ...(text === '' ? [] : [`<div class="plain" dir="auto" tabindex="0">${showText(text)}</div>`]),
    ...files.map(formatDocumentSheet),
  ];
  const known = files.flatMap(({ pages }) => pages ?? []);
  const all = known.reduce((sum, pages) => sum + pages, 0);
  const pagesText =
    files.length === 0
      ? ''
      : known.length === files.length
        ? `${formatPages(all)} of documents`
        : `${all === 0 ? 'not known' : `${formatPages(all)} and more`}: a document does not say how many it has`;
  return `<div class="fax">
${sheets.map((sheet) => `<div class="sheet">${formatLine(message)}${sheet}</div>\n`).join('')}</div>
${formatFacts([
  ['Pages', pagesText],
  ['Resolution', showText(fields['Resolution'] ?? '')],
])}`;
}

/** The line that fax machines print at the top. */
function formatLine({ destination: { Recipient, Attention = '' }, fields }: RenderedMessage): string {
  const items = [
    ['From', fields['CSID'] ?? ''],
    ['To', Recipient],
    ['Attention', Attention],
  ] as const;
  const shown = items
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `<span>${name}: <b dir="auto">${showText(value)}</b></span>`);
  return `<div class="faxline">${shown.join(' ')}</div>`;
}

function formatDocumentSheet(file: RenderedFile, index: number): string {
  return `<p class="document" dir="auto"><b>${escapeText(file.name)}</b><br><small>document ${index + 1}, ${formatFileSize(file)}</small></p>`;
}
