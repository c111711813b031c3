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

/** A preview keeps all rows, or those whose values may cost SMS parts. A run needs none. */
export type KeptRows = 'none' | 'costly' | 'all';

/** Which contacts keep their rows until they are previewed. */
export function createValueKeeper(
  { serviceText, usedColumns, derived }: Pick<Composition, 'serviceText' | 'usedColumns' | 'derived'>,
  kept: KeptRows,
): ((valueIn: ValueIn) => boolean) | undefined {
  if (kept === 'none') return undefined;
  if (kept === 'all') return () => true;
  const columns = serviceText ? usedColumns.filter((column) => !derived.has(column)) : [];
  return (valueIn) => columns.some((column) => !isInSeptets(valueIn(column)));
}
