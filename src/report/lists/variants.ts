import { formatPercent } from '../../domain/scalar-text.ts';
import type { PlannedVariant } from '../../domain/variants.ts';
import { type Columns, decimalColumn, integerColumn, textColumn } from '../column.ts';

/** What each variant of a plan sends. @param currency undefined: the cost is not known */
export function plannedVariantColumns(currency: string | undefined): Columns<PlannedVariant> {
  return [
    textColumn('name', 'Variant', ({ name }) => name, {
      note: ({ gets }) =>
        gets === 'message' ? null : gets === 'nothing' ? 'gets nothing' : 'gets the winner',
    }),
    textColumn('share', 'Share', ({ share }) => formatPercent(share)),
    integerColumn('recipients', 'Recipients'),
    integerColumn('requests', 'Requests'),
    integerColumn('smsParts', 'SMS parts'),
    ...(currency === undefined ? [] : [decimalColumn<PlannedVariant>('cost', currency, ({ cost }) => cost)]),
  ];
}
