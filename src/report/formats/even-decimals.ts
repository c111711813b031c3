import { countDecimals } from '../../platform/money.ts';
import { type CellValue, cellText, type SheetColumn } from './sheet.ts';

/** For reading: the decimals that stand below each other get equally many places, and none is rounded. */
export function withEvenDecimals<Row>(
  columns: readonly SheetColumn<Row>[],
  rows: readonly Row[],
): readonly SheetColumn<Row>[] {
  return columns.map((column) => {
    if (column.kind !== 'decimal') return column;
    const places = rows.reduce((most, row) => Math.max(most, countDecimals(cellText(column.value(row)))), 0);
    return { ...column, value: (row) => padDecimals(column.value(row), places) };
  });
}

function padDecimals(value: CellValue, places: number): CellValue {
  const text = cellText(value);
  const missing = places - countDecimals(text);
  if (value === null || missing === 0) return value;
  return `${text}${missing === places ? '.' : ''}${'0'.repeat(missing)}`;
}
