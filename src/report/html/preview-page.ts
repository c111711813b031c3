import type { RenderedRow } from '../../domain/rendered-message.ts';
import type { PartCauses } from '../../domain/sms.ts';
import { partCauseLines } from '../part-causes.ts';
import { formatDocument } from './document.ts';
import { formatMessage, previewPolicy } from './preview-message.ts';
import { previewStyle } from './preview-style.ts';
import { createPageStyle } from './style.ts';
import { escapeText } from './text.ts';

export type PreviewPage = {
  readonly campaign: string;
  readonly channel: string;
  readonly account: string;
  readonly recipients: number;
  readonly asOf: Date;
  readonly rows: readonly RenderedRow[];
  /** Null in other channels than SMS. */
  readonly partCauses: PartCauses | null;
  readonly smsParts: number | null;
};

/** More would push the messages out of sight. */
const maxOpenCauses = 3;

/** A page with one message at a time. It works without scripts: links choose the message by its number. */
export function formatPreviewPage(page: PreviewPage): AsyncGenerator<string, void, undefined> {
  const { campaign, channel, account, recipients, asOf, rows } = page;
  const shown = rows.length === 1 ? '1 row' : `${rows.length} rows`;
  const readers = recipients === 1 ? '1 recipient' : `${recipients} recipients`;
  return formatDocument({
    title: `Messages of ${campaign}`,
    subtitle: [
      `${channel} through account ${account}: ${shown} of a plan with ${readers}. Nothing has been sent.`,
    ],
    asOf,
    style: createPageStyle(3) + previewStyle + rows.map(chosenStyle).join('\n'),
    policy: previewPolicy,
    body: formatBody(page),
  });
}

async function* formatBody({
  rows,
  partCauses,
  smsParts,
}: PreviewPage): AsyncGenerator<string, void, undefined> {
  const [sum, ...causes] = partCauses && smsParts !== null ? partCauseLines(partCauses, smsParts) : [];
  if (sum !== undefined)
    yield `<details class="causes"${causes.length <= maxOpenCauses ? ' open' : ''}>
<summary>${escapeText(sum)}</summary>
<ul>${causes.map((line) => `<li dir="auto">${escapeText(line)}</li>`).join('\n')}</ul>
</details>
`;
  if (rows.length === 0) yield '<p>The plan has no recipients.</p>\n';
  yield `<div class="book">
<nav aria-label="Rows"><ul>
${rows.map(formatLink).join('')}</ul></nav>
<div class="rows">
`;
  for (const [index, row] of rows.entries()) yield formatRow(row, rows[index - 1], rows[index + 1]);
  yield '</div>\n</div>\n';
}

function formatLink({ row, why, kind }: RenderedRow): string {
  const reasons = kind === 'rejected' ? 'not sent to' : why.join(', ');
  return `<li><a href="#row-${row}"><b>Row ${row}</b>${reasons === '' ? '' : ` <small dir="auto">${escapeText(reasons)}</small>`}</a></li>\n`;
}

function formatRow(
  row: RenderedRow,
  before: RenderedRow | undefined,
  after: RenderedRow | undefined,
): string {
  const id = `row-${row.row}`;
  const step = (to: RenderedRow | undefined, words: string): string =>
    to ? `<a href="#row-${to.row}">${words}</a>` : `<span>${words}</span>`;
  const content =
    row.kind === 'message'
      ? formatMessage(row.message)
      : `<p class="note">No message: ${row.reason}${row.column === '' ? '' : `, column ${escapeText(row.column)}`}: ${escapeText(row.detail)}.</p>\n`;
  return `<article id="${id}" aria-labelledby="${id}-title">
<div class="head"><h2 id="${id}-title" dir="auto">Row ${row.row} <small>line ${row.line} of ${escapeText(row.file)}${row.why.length === 0 ? '' : ` · ${escapeText(row.why.join(', '))}`}</small></h2>
<div class="steps">${step(before, 'Previous')} ${step(after, 'Next')}</div></div>
${content}</article>
`;
}

/** Marks the link of the row that is shown; the first one if none is chosen. */
function chosenStyle({ row }: RenderedRow, index: number): string {
  const chosen = `.book:has(#row-${row}:target) nav a[href="#row-${row}"]`;
  const selectors = index === 0 ? `${chosen}, .book:not(:has(:target)) nav a[href="#row-${row}"]` : chosen;
  return `${selectors} { background: var(--bar); color: var(--page); border-color: var(--bar); } ${selectors.replaceAll('"]', '"] small')} { color: inherit; }`;
}
