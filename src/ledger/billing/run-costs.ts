import type { Connection } from '../session.ts';

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
  readonly by: 'run' | 'SubAccount' | 'ChargeCode';
  readonly value: string | null;
  readonly values: number;
  readonly currency: string | null;
};

/**
 * Reads what one run costs, as booked: the sum of its billing entries. It reads a row for each payer, however many
 * requests the run has. `bookRun` books a run up to now.
 *
 * @param limit of each list
 */
export async function readRunCosts(client: Connection, run: string, limit: number): Promise<RunCosts> {
  const { rows } = await client.query<DbCost>(statement, [run, limit]);
  const listed = (by: DbCost['by']): DbCost[] => rows.filter((row) => row.by === by);
  const [total] = listed('run');
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

const places = 'price DESC, estimated DESC, recipients DESC, value NULLS LAST';

/** Ranking by a window function takes six times as long. */
const statement = `
  WITH cost AS MATERIALIZED (
    SELECT *
    FROM run_costs
    -- Requests of a payer that were in flight may not have been sent.
    WHERE run_id = $1 AND (recipients <> 0 OR price <> 0 OR estimated <> 0)
  )
  SELECT by, value, recipients::float8 AS recipients, accepted::float8 AS accepted, price::text, estimated::text,
         estimated_tax::text AS "estimatedTax", unrated::float8 AS unrated,
         all_values.values,
         (SELECT rates ->> 'currency' FROM runs WHERE run_id = $1) AS currency
  FROM unnest(ARRAY['run', 'SubAccount', 'ChargeCode']) AS kind
  CROSS JOIN LATERAL (SELECT count(*)::integer AS values FROM cost WHERE by = kind) all_values
  CROSS JOIN LATERAL (SELECT * FROM cost WHERE by = kind ORDER BY ${places} LIMIT $2) top
  ORDER BY by, top.${places}
`;
