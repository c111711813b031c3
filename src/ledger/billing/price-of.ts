/**
 * SQL: price and tax of a unit, by a tariff of the run at send time. A test compares it with `periodAt`
 * (`campaign/tariffs.ts`).
 */
export const priceOf = (run: string, tariff: string, sent: string): string => `
  LEFT JOIN LATERAL (
    SELECT period.price, period.price * coalesce(period.tax, 0) AS tax
    FROM jsonb_to_recordset(${run}.rates -> 'tariffs' -> CAST(${tariff} AS integer))
      AS period (price numeric, tax numeric, "from" timestamptz, until timestamptz)
    WHERE (period."from" IS NULL OR period."from" <= ${sent}) AND (period.until IS NULL OR ${sent} < period.until)
    LIMIT 1
  ) rate ON true`;
