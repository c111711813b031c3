import type { Composition } from '../../campaign/composition.ts';
import type { ValueIn } from '../../campaign/invalid.ts';
import { createValueReader } from '../../campaign/mapping.ts';
import type { ContactFile } from '../../contacts/contact-file.ts';
import { isInSeptets } from './sms-parts.ts';

/**
 * Reads a row's values by their columns, derived ones included.
 *
 * @returns a function of the index of the row's contact file, and its values
 */
export function createRowValues({
  contactFiles,
  composition: { derived },
}: {
  readonly contactFiles: readonly Pick<ContactFile, 'header'>[];
  readonly composition: Pick<Composition, 'derived'>;
}): (file: number, values: readonly string[]) => ValueIn {
  const positions = contactFiles.map(({ header }) => new Map(header.map((column, index) => [column, index])));
  return (file, values) =>
    createValueReader(derived, (column) => values[positions[file]?.get(column) ?? -1] ?? '');
}

/** Which contacts keep their rows until they are previewed: all, or those whose values may cost SMS parts. */
export function createValueKeeper(
  { serviceText, usedColumns, derived }: Pick<Composition, 'serviceText' | 'usedColumns' | 'derived'>,
  keepsAll: boolean,
): (valueIn: ValueIn) => boolean {
  if (keepsAll) return () => true;
  const columns = serviceText ? usedColumns.filter((column) => !derived.has(column)) : [];
  return (valueIn) => columns.some((column) => !isInSeptets(valueIn(column)));
}
