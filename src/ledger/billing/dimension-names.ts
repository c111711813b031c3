import type { Connection } from '../session.ts';

export const namedDimensions = ['SubAccount', 'Department', 'ChargeCode', 'account', 'campaign'] as const;
export type NamedDimension = (typeof namedDimensions)[number];

/** Booked entries are few and survive a purge; unbooked names are in millions of envelopes. */
const ofPayers = ['billing_entries', 'envelopes'] as const;

const places = {
  SubAccount: { column: 'sub_account', tables: ofPayers },
  Department: { column: 'department', tables: ofPayers },
  ChargeCode: { column: 'charge_code', tables: ofPayers },
  account: { column: 'account', tables: ['runs'] },
  campaign: { column: 'campaign', tables: ['runs'] },
} as const satisfies Readonly<Record<NamedDimension, unknown>>;

const maxNames = 10_000;

/**
 * Lists names of a dimension that occur in the ledger.
 *
 * @param accounts whose runs count; null: all
 * @param among only these; null: any
 */
export async function listNames(
  client: Connection,
  dimension: NamedDimension,
  accounts: readonly string[] | null,
  among: readonly string[] | null,
): Promise<ReadonlySet<string>> {
  const { column, tables } = places[dimension];
  const found = new Set<string>();
  for (const table of tables) {
    const wanted = among?.filter((name) => !found.has(name));
    if (wanted?.length === 0) break;
    const { rows } = await client.query<{ name: string }>(
      `
      SELECT DISTINCT ${column} AS name
      FROM ${table}
      WHERE ${column} IS NOT NULL AND ($1::text[] IS NULL OR ${column} = ANY ($1))
        AND ($2::text[] IS NULL OR run_id IN (SELECT run_id FROM runs WHERE account = ANY ($2)))
      LIMIT ${maxNames}
      `,
      [wanted, accounts],
    );
    for (const { name } of rows) found.add(name);
  }
  return found;
}
