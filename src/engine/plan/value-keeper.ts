import type { Composition } from '../../campaign/composition.ts';
import type { ValueIn } from '../../campaign/invalid.ts';
import { isInSeptets } from './sms-parts.ts';

/**
 * Which contacts keep their rows until they are previewed: all, or those whose values may cost SMS parts.
 */
export function createValueKeeper(
  { serviceText, usedColumns, derived }: Pick<Composition, 'serviceText' | 'usedColumns' | 'derived'>,
  keepsAll: boolean,
): (valueIn: ValueIn) => boolean {
  if (keepsAll) return () => true;
  const columns = serviceText ? usedColumns.filter((column) => !derived.has(column)) : [];
  return (valueIn) => columns.some((column) => !isInSeptets(valueIn(column)));
}
