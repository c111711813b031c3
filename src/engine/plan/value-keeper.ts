import type { Composition } from '../../campaign/composition.ts';
import type { ValueIn } from '../../campaign/invalid.ts';
import { isInSeptets } from './sms-parts.ts';

/** For a preview: all rows, or those whose values may cost SMS parts. A run needs none. */
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
