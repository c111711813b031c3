import { createValueReader, type DerivedColumns } from '../../campaign/mapping.ts';
import type { ValidContact } from './preview-rejections.ts';

export type ReadRowValues = (contact: ValidContact) => (column: string) => string;

/** Reads a contact's values by their columns, derived ones included. */
export function createRowValues(
  headers: readonly (readonly string[])[],
  derived: DerivedColumns,
): ReadRowValues {
  const positions = headers.map((header) => new Map(header.map((column, index) => [column, index])));
  return ({ file, values = [] }) =>
    createValueReader(derived, (column) => values[positions[file]?.get(column) ?? -1] ?? '');
}
