import type { Unit } from '../../domain/rate-card.ts';
import { type Columns, decimalColumn, integerColumn } from '../column.ts';
import { namedPayerColumns } from './usual.ts';

/** What one payer would pay, by the estimate. */
type PlannedCost = {
  readonly subAccount: string | null;
  readonly chargeCode: string | null;
  readonly recipients: number;
  readonly units: number;
  /** Exact decimal text. */
  readonly cost: string;
};

const unitTitles: Readonly<Record<Unit, string>> = {
  part: 'Parts',
  email: 'E-mails',
  page: 'Pages',
  second: 'Seconds',
};

/** Who would pay for a run, and what. */
export function costColumns({
  currency,
  unit,
}: {
  readonly currency: string;
  readonly unit: Unit;
}): Columns<PlannedCost> {
  return [
    namedPayerColumns.subAccount,
    namedPayerColumns.chargeCode,
    integerColumn('recipients', 'Recipients'),
    integerColumn('units', unitTitles[unit], ({ units }) => units),
    decimalColumn('cost', currency, ({ cost }) => cost),
  ];
}
