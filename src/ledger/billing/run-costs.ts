import type { Connection } from '../session.ts';
import { pendingChanges, sliceOf } from './changes.ts';
import { keyColumns, pendingClauses } from './pending-sums.ts';

/** Money is exact decimals, as text. */
export type RunCost = {
  readonly recipients: number;
  readonly accepted: number;
  readonly price: string;
  readonly estimated: string;
  readonly estimatedTax: string;
  /** Accepted recipients without a price in the rate card. */
  readonly unrated: number;
};

export type PayerCost = RunCost & {
  /** Null: no value. */
  readonly value: string | null;
};

export type RunCosts = {
  readonly currency: string | null;
  readonly total: RunCost;
  /** Those who pay most. */
  readonly bySubAccount: readonly PayerCost[];
  readonly byChargeCode: readonly PayerCost[];
  /** How many there are in all. */
  readonly subAccounts: number;
  readonly chargeCodes: number;
};

type DbCost = RunCost & {
  readonly by: 'total' | 'SubAccount' | 'ChargeCode';
  readonly value: string | null;
  readonly values: number;
  readonly currency: string | null;
};

const figures = ['recipients', 'accepted', 'price', 'estimated', 'estimated_tax', 'unrated'] as const;
const columns = `${keyColumns.slice(3).join(', ')}, ${figures.join(', ')}`;

/**
 * Sums what one run costs. The result is that of `reportBilling`, which would add up what is pending of all runs.
 *
 * @param limit of each list
 */
export async function sumRunCosts(client: Connection, run: string, limit: number): Promise<RunCosts> {
  const { rows } = await client.query<DbCost>({ text: statement, values: [run, limit] });
  const listed = (by: DbCost['by']): DbCost[] => rows.filter((row) => row.by === by);
  const [total] = listed('total');
  const [bySubAccount, byChargeCode] = [listed('SubAccount'), listed('ChargeCode')];
  return {
    currency: total?.currency ?? null,
    total: total ? costOf(total) : noCost,
    bySubAccount: bySubAccount.map((row) => ({ value: row.value, ...costOf(row) })),
    byChargeCode: byChargeCode.map((row) => ({ value: row.value, ...costOf(row) })),
    subAccounts: bySubAccount[0]?.values ?? 0,
    chargeCodes: byChargeCode[0]?.values ?? 0,
  };
}

const noCost: RunCost = {
  recipients: 0,
  accepted: 0,
  price: '0',
  estimated: '0',
  estimatedTax: '0',
  unrated: 0,
};

function costOf({ recipients, accepted, price, estimated, estimatedTax, unrated }: RunCost): RunCost {
  return { recipients, accepted, price, estimated, estimatedTax, unrated };
}

const statement = `
  WITH open_slice AS MATERIALIZED (
    SELECT run_id, slice
    FROM billing_slices b
    JOIN runs r USING (run_id)
    WHERE b.open AND b.run_id = $1 AND r.state <> 'planned'
    UNION
    SELECT o.run_id, s.slice
    FROM billing_reopened_requests o
    CROSS JOIN ${sliceOf('o')} s
    WHERE o.run_id = $1
  ), own_changes AS (
    SELECT * FROM billing_changes WHERE run_id = $1
  ), own_outcomes AS (
    SELECT * FROM billing_outcomes WHERE run_id = $1
  ), change AS (
    ${pendingChanges('own_changes', 'own_outcomes')}
  ), ${pendingClauses}, entry AS (
    SELECT ${columns} FROM billing_entries WHERE run_id = $1
    UNION ALL
    SELECT ${columns} FROM pending
  ), summed AS (
    SELECT CASE grouping(sub_account, charge_code) WHEN 3 THEN 'total' WHEN 1 THEN 'SubAccount' ELSE 'ChargeCode' END AS by,
           CASE grouping(sub_account, charge_code) WHEN 1 THEN sub_account WHEN 2 THEN charge_code END AS value,
           ${figures.map((figure) => `coalesce(sum(${figure}), 0) AS ${figure}`).join(', ')}
    FROM entry
    GROUP BY GROUPING SETS ((), (sub_account), (charge_code))
  )
  SELECT by, value, recipients::float8 AS recipients, accepted::float8 AS accepted, price::text, estimated::text,
         estimated_tax::text AS "estimatedTax", unrated::float8 AS unrated, values,
         (SELECT rates ->> 'currency' FROM runs WHERE run_id = $1) AS currency
  FROM (
    SELECT *, (count(*) OVER (PARTITION BY by))::integer AS values,
           row_number() OVER (PARTITION BY by ORDER BY price DESC, estimated DESC, recipients DESC, value NULLS LAST) AS place
    FROM summed
  ) ranked
  WHERE place <= $2
  ORDER BY by, place
`;
