import { countDecimals } from '../../platform/money.ts';
import { type CellValue, type Columns, cellText } from '../column.ts';

/** Gives decimals that stand below each other equally many places, and rounds none. */
export function withEvenDecimals<Row>(columns: Columns<Row>, rows: readonly Row[]): Columns<Row> {
  return columns.map((column) => {
    const { kind, value, shown = value } = column;
    if (kind !== 'decimal') return column;
    const places = rows.reduce((most, row) => Math.max(most, countDecimals(cellText(shown(row)))), 0);
    return { ...column, shown: (row: Row) => padDecimals(shown(row), places) };
  });
}

function padDecimals(value: CellValue, places: number): CellValue {
  const text = cellText(value);
  const missing = places - countDecimals(text);
  if (missing === 0 || !/^-?\d+(\.\d+)?$/.test(text)) return value;
  return `${text}${missing === places ? '.' : ''}${'0'.repeat(missing)}`;
}
