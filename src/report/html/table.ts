import { escapeHtml } from '../../domain/html.ts';
import { type CellKind, type CellValue, cellText, type Sheet } from '../formats/sheet.ts';
import { formatUtc } from '../time.ts';
import { groupThousands } from './figures.ts';
import { escapeText } from './text.ts';

const attributesOf: Readonly<Record<CellKind, string>> = {
  text: ' dir="auto"',
  integer: ' class="n"',
  decimal: ' class="n"',
  time: ' class="t"',
};

export async function* formatHtmlTable<Row>(
  { columns, rows, totals }: Sheet<Row>,
  caption: string,
): AsyncGenerator<string, void, undefined> {
  const line = (row: Row): string => {
    const cells = columns.map(({ kind, value }, index) => {
      const cell = `${attributesOf[kind]}>${formatHtmlCell(kind, value(row))}`;
      return index === 0 ? `<th scope="row"${cell}</th>` : `<td${cell}</td>`;
    });
    return `<tr>${cells.join('')}</tr>\n`;
  };
  const titles = columns.map(({ title, kind }) => {
    return `<th scope="col"${attributesOf[kind]}>${escapeText(title)}</th>`;
  });
  // It scrolls sideways, so the keyboard must reach it.
  yield `<section class="lines" aria-label="${escapeHtml(caption)}" tabindex="0">
<table>
<caption>${escapeText(caption)}</caption>
<thead><tr>${titles.join('')}</tr></thead>
<tbody>
`;
  let count = 0;
  for await (const batch of rows) {
    if (batch.length > 0) yield batch.map(line).join('');
    count += batch.length;
  }
  if (count === 0) yield `<tr><td colspan="${columns.length}">No lines.</td></tr>\n`;
  yield '</tbody>\n';
  const sums = totals ? await totals() : [];
  if (sums.length > 0) yield `<tfoot>\n${sums.map(line).join('')}</tfoot>\n`;
  yield '</table>\n</section>\n';
}

function formatHtmlCell(kind: CellKind, value: CellValue): string {
  // Lets a narrow cell break between date and time only.
  if (value instanceof Date) return formatUtc(value).replace(/\S+/g, '<span>$&</span>');
  const text = cellText(value);
  return escapeText(kind === 'text' ? text : groupThousands(text));
}
