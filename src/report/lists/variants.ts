import { formatPercent } from '../../domain/scalar-text.ts';
import type { PlannedVariant } from '../../domain/variants.ts';
import type { VariantResult } from '../../ledger/watch/variant-results.ts';
import { type Columns, columnsOf, decimalColumn, integerColumn, textColumn } from '../column.ts';
import { deliveredShare } from '../run/run-outcome.ts';
import { recipientsColumn } from './usual.ts';

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

/** What came of each variant of a run. */
export const variantResultColumns = columnsOf<VariantResult>()([
  textColumn('name', 'Variant', ({ name, variant }) => name ?? `variant ${variant}`),
  recipientsColumn,
  integerColumn('accepted', 'Accepted', { minor: 1 }),
  integerColumn('unknown', 'Unknown', { minor: 1 }),
  decimalColumn('deliveredShare', 'Delivered %', deliveredShare),
  integerColumn('replied', 'Replies', ({ replied }) => replied),
  integerColumn('optedOut', 'Opt-outs', ({ optedOut }) => optedOut),
  decimalColumn('price', 'Price'),
  decimalColumn('estimated', 'Estimated', { minor: 2 }),
  textColumn('currency', 'Currency'),
]);
