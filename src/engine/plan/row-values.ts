import { createValueReader, type DerivedColumns } from '../../campaign/mapping.ts';

/** @param file the index of its contact file */
export type ReadRowValues = (file: number, values: readonly string[]) => (column: string) => string;

/** Reads a row's values by their columns, derived ones included. */
export function createRowValues(
  headers: readonly (readonly string[])[],
  derived: DerivedColumns,
): ReadRowValues {
  const positions = headers.map((header) => new Map(header.map((column, index) => [column, index])));
  return (file, values) =>
    createValueReader(derived, (column) => values[positions[file]?.get(column) ?? -1] ?? '');
}
