/** How a table is drawn where its screen is narrow. */
export type Fit =
  | { readonly kind: 'table'; readonly kept: readonly number[] }
  /** Every row as a record of lines: no choice of columns would fit. */
  | { readonly kind: 'records' };

/** A column of a table, as wide as its widest cell. */
export type FittedColumn = {
  readonly width: number;
  /** From 1 on; the greatest is left out first. Columns without it are never left out. */
  readonly minor?: number | undefined;
};

/**
 * Chooses the columns that fit, leaving out what matters least.
 *
 * @param width characters of a line; undefined for any number
 */
export function fitColumns(columns: readonly FittedColumn[], width: number | undefined): Fit {
  const kept = columns.map((column, place) => ({ ...column, place }));
  while (width !== undefined && tableWidth(kept) > width) {
    const least = kept.reduce((found, { minor = 0 }) => Math.max(found, minor), 0);
    if (least === 0) return { kind: 'records' };
    kept.splice(
      kept.findLastIndex(({ minor }) => minor === least),
      1,
    );
  }
  return { kind: 'table', kept: kept.map(({ place }) => place) };
}

/** With a space on each side of a cell, and a border on each side of a column. */
function tableWidth(columns: readonly FittedColumn[]): number {
  return columns.reduce((sum, { width }) => sum + width + 3, 1);
}
