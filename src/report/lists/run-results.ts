import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { RunCost } from '../../ledger/billing/run-costs.ts';
import type { DeliveryResult } from '../../ledger/counts/groups.ts';
import type { AttemptGroup } from '../../ledger/runs/describe-sending.ts';
import { formatPayer } from '../billing/billing-words.ts';
import {
  type Column,
  type Columns,
  columnsOf,
  decimalColumn,
  integerColumn,
  stateColumn,
  textColumn,
  wordsColumn,
} from '../column.ts';
import { recipientsColumn, wordsOf } from './usual.ts';

/** How the attempts of a run ended. */
export const attemptEndColumns: Columns<AttemptGroup> = [
  stateColumn('verdict', 'Verdict', {
    shown: ({ verdict }) => verdict ?? 'in flight',
  }),
  integerColumn('httpStatus', 'HTTP'),
  integerColumn('attempts', 'Attempts'),
];

/** What delivery reports say of the recipients of a run. */
export const deliveryResultColumns = columnsOf<Omit<DeliveryResult, 'group'>>()([
  stateColumn('outcome', 'Outcome'),
  wordsColumn('result', 'Result', ({ result }) => formatReasonOrNull(result), {
    shown: ({ result }) => wordsOf(result),
  }),
  recipientsColumn,
]);

export const priceColumn = decimalColumn('price', 'Price');
export const estimatedColumn = decimalColumn('estimated', 'Estimated');

/** What a run, or one of its payers, costs. */
export const moneyColumns: Columns<RunCost> = [
  recipientsColumn,
  integerColumn('accepted', 'Accepted'),
  priceColumn,
  estimatedColumn,
  decimalColumn('estimatedTax', 'Estimated tax'),
  decimalColumn('difference', 'Difference'),
];

/** The name of a payer, or of the others together. @param dimension such as `SubAccount` */
export function payerColumn(
  dimension: string,
): Column<{ readonly value: string | null; readonly others?: number }> {
  return textColumn('value', dimension, ({ value, others }) =>
    others === undefined ? formatPayer(value) : `${others} others`,
  );
}
