import type { Columns } from '../column.ts';
import { printable } from '../printable.ts';
import { plainScreen, type Screen, styled } from '../screen.ts';
import { formatTable } from '../table.ts';
import { formatAsOf } from '../time.ts';
import type { Sheet } from './sheet.ts';

/** More lines would push the first ones off the screen. Files are for more. */
const maxLines = ({ width }: Screen): number => (width === undefined ? 1_000 : 50);

/** The title, the first lines, the number of lines left, and all totals. */
export async function* formatSheetTable<Row>(
  sheet: Sheet<Row>,
  screen: Screen = plainScreen,
): AsyncGenerator<string, void, undefined> {
  const { title, subtitle, asOf, columns, rows, totals, summary } = sheet;
  const shown = maxLines(screen);
  const lines: Row[] = [];
  let count = 0;
  for await (const batch of rows) {
    if (lines.length < shown) lines.push(...batch.slice(0, shown - lines.length));
    count += batch.length;
  }
  const sums = totals && !summary ? await totals() : [];

  yield `${[styled(printable(title), 'title', screen), ...subtitle.map(printable)].join('\n')}\n`;
  if (asOf.read) yield `as of ${formatAsOf(asOf)}\n`;
  if (summary) yield `${summary((sumColumns, all) => formatTable(sumColumns, all, screen))}\n`;
  if (count === 0) yield 'No lines.\n';
  if (lines.length + sums.length > 0) yield `${formatTable(columns, lines, screen, sums)}\n`;
  if (count > shown) yield `${notShown(count - shown, ` (${count} in all)`, 'csv')}\n`;
}

const maxLinesOfSeveral = 20;

/** One of several tables: on a screen only its first lines. */
export function formatLines<Row>(columns: Columns<Row>, rows: readonly Row[], screen: Screen): string {
  if (screen.width === undefined || rows.length <= maxLinesOfSeveral)
    return formatTable(columns, rows, screen);
  const text = formatTable(columns, rows.slice(0, maxLinesOfSeveral), screen);
  return `${text}\n${notShown(rows.length - maxLinesOfSeveral, '', 'html')}`;
}

function notShown(lines: number, ofAll: string, format: string): string {
  const [are, them] = lines === 1 ? ['line is', 'it'] : ['lines are', 'them'];
  return `${lines} more ${are} not shown${ofAll}; other formats, such as ${format}, have ${them}.`;
}
