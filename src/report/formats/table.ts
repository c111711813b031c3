import { printable } from '../printable.ts';
import { plainScreen, type Screen, styled, toneOf } from '../screen.ts';
import { formatTable } from '../table.ts';
import { formatTime, titleWithZone } from '../time.ts';
import { withEvenDecimals } from './even-decimals.ts';
import { cellText, type Sheet, type SheetColumn } from './sheet.ts';

/** More lines would push the first ones off the screen. Files are for more. */
const maxLines = ({ width }: Screen): number => (width === undefined ? 1_000 : 50);

/** The title, the first lines, the number of lines left, and all totals. */
export async function* formatSheetTable<Row>(
  sheet: Sheet<Row>,
  screen: Screen = plainScreen,
): AsyncGenerator<string, void, undefined> {
  const { title, subtitle, columns, rows, totals } = sheet;
  const shown = maxLines(screen);
  const lines: Row[] = [];
  let count = 0;
  for await (const batch of rows) {
    if (lines.length < shown) lines.push(...batch.slice(0, shown - lines.length));
    count += batch.length;
  }
  const sums = totals ? await totals() : [];

  yield `${[styled(printable(title), 'title', screen), ...subtitle.map(printable)].join('\n')}\n`;
  if (count === 0) yield 'No lines.\n';
  if (lines.length + sums.length > 0) yield `${drawLines(columns, lines, sums, screen)}\n`;
  if (count > shown) yield `${notShown(count - shown, ` (${count} in all)`, 'csv')}\n`;
}

const maxLinesOfSeveral = 20;

/** One of several tables: on a screen only its first lines. */
export function formatLines<Row>(
  columns: readonly SheetColumn<Row>[],
  rows: readonly Row[],
  screen: Screen = plainScreen,
): string {
  if (screen.width === undefined || rows.length <= maxLinesOfSeveral)
    return drawLines(columns, rows, [], screen);
  const text = drawLines(columns, rows.slice(0, maxLinesOfSeveral), [], screen);
  return `${text}\n${notShown(rows.length - maxLinesOfSeveral, '', 'html')}`;
}

function notShown(lines: number, ofAll: string, format: string): string {
  const [are, them] = lines === 1 ? ['line is', 'it'] : ['lines are', 'them'];
  return `${lines} more ${are} not shown${ofAll}; other formats, such as ${format}, have ${them}.`;
}

function drawLines<Row>(
  columns: readonly SheetColumn<Row>[],
  lines: readonly Row[],
  sums: readonly Row[],
  screen: Screen,
): string {
  const columnsDrawn = withEvenDecimals(columns, [...lines, ...sums]).map(
    ({ title, key, kind, minor, value }) => {
      const text = (row: Row): string => {
        const cell = value(row);
        return cell instanceof Date ? formatTime(screen, cell) : cellText(cell);
      };
      return {
        title: printable(kind === 'time' ? titleWithZone(screen, title.replace(/ \(UTC\)$/, '')) : title),
        value: text,
        align: kind === 'integer' || kind === 'decimal' ? ('right' as const) : ('left' as const),
        minor,
        ...(key === 'state' && { tone: (row: Row) => toneOf(text(row)) }),
      };
    },
  );
  return formatTable(columnsDrawn, lines, sums, screen);
}
