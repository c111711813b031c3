import type { RenderedRow } from '../../domain/rendered-message.ts';
import type { PartCauses } from '../../domain/sms.ts';
import { count } from '../../platform/sentence.ts';
import { partCauseLines } from '../part-causes.ts';
import { type Html, html } from './html.ts';
import { formatDocument } from './page.ts';
import { rowContent } from './preview-message.ts';
import { previewPolicy, previewStyle } from './preview-style.ts';
import { createPageStyle } from './style.ts';

/** The messages of a plan, and what makes their texts longer. */
export type PreviewPage = {
  readonly campaign: string;
  readonly channel: string;
  readonly account: string;
  readonly recipients: number;
  readonly asOf: Date;
  readonly rows: readonly RenderedRow[];
  /** What makes texts longer; null in other channels than SMS. */
  readonly partCauses: PartCauses | null;
  readonly smsParts: number | null;
};

/** More would push the messages out of sight. */
const maxOpenCauses = 3;

/** A page with one message at a time. It works without scripts: links choose the message by its number. */
export function formatPreviewPage(page: PreviewPage): AsyncGenerator<string, void, undefined> {
  const { campaign, channel, account, recipients, asOf, rows } = page;
  const [shown, readers] = [count(rows.length, 'row'), count(recipients, 'recipient')];
  return formatDocument({
    title: `Messages of ${campaign}`,
    subtitle: [
      `${channel} through account ${account}: ${shown} of a plan with ${readers}. Nothing has been sent.`,
    ],
    asOf: { at: asOf },
    style: createPageStyle(3) + previewStyle + rows.map(chosenStyle).join('\n'),
    policy: previewPolicy,
    body: bodyOf(page),
  });
}

async function* bodyOf({ rows, partCauses, smsParts }: PreviewPage): AsyncGenerator<Html, void, undefined> {
  const [sum, ...causes] = partCauses && smsParts !== null ? partCauseLines(partCauses, smsParts) : [];
  if (sum !== undefined)
    yield html`<details class="causes"${causes.length <= maxOpenCauses && html` open`}>
<summary>${sum}</summary>
<ul>${causes.map((line) => html`<li dir="auto">${line}</li>`)}</ul>
</details>
`;
  if (rows.length === 0)
    yield html`<p>The plan has no recipients.</p>
`;
  yield html`<div class="book">
<nav aria-label="Rows"><ul>
${rows.map(linkItem)}</ul></nav>
<div class="rows">
`;
  for (const [index, row] of rows.entries()) yield rowPart(row, rows[index - 1], rows[index + 1]);
  yield html`</div>
</div>
`;
}

function linkItem({ row, why, kind }: RenderedRow): Html {
  const reasons = kind === 'rejected' ? 'not sent to' : why.join(', ');
  return html`<li><a href="#row-${row}"><b>Row ${row}</b>${reasons !== '' && html` <small dir="auto">${reasons}</small>`}</a></li>
`;
}

function rowPart(row: RenderedRow, before: RenderedRow | undefined, after: RenderedRow | undefined): Html {
  const id = `row-${row.row}`;
  const step = (to: RenderedRow | undefined, words: string): Html =>
    to ? html`<a href="#row-${to.row}">${words}</a>` : html`<span>${words}</span>`;
  return html`<article id="${id}" aria-labelledby="${id}-title">
<div class="head"><h2 id="${id}-title" dir="auto">Row ${row.row} <small>line ${row.line} of ${row.file}${row.why.length > 0 && ` · ${row.why.join(', ')}`}</small></h2>
<div class="steps">${step(before, 'Previous')} ${step(after, 'Next')}</div></div>
${rowContent(row)}</article>
`;
}

/** Marks the link of the row that is shown; the first one if none is chosen. */
function chosenStyle({ row }: RenderedRow, index: number): string {
  const chosen = `.book:has(#row-${row}:target) nav a[href="#row-${row}"]`;
  const selectors = index === 0 ? `${chosen}, .book:not(:has(:target)) nav a[href="#row-${row}"]` : chosen;
  return `${selectors} { background: var(--bar); color: var(--page); border-color: var(--bar); } ${selectors.replaceAll('"]', '"] small')} { color: inherit; }`;
}
