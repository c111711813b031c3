import type { Knex } from 'knex';

export const namedDimensions = ['SubAccount', 'Department', 'ChargeCode', 'account', 'campaign'] as const;
export type NamedDimension = (typeof namedDimensions)[number];

const columns = {
  SubAccount: 'sub_account',
  Department: 'department',
  ChargeCode: 'charge_code',
  account: 'account',
  campaign: 'campaign',
} as const satisfies Readonly<Record<NamedDimension, string>>;

const maxNames = 10_000;

/** Accounts whose runs count; null: all. */
export type AccountScope = readonly string[] | null;

/** Returns the names that do not occur in the ledger. */
export async function findUnknownNames(
  knex: Knex,
  dimension: NamedDimension,
  names: readonly string[],
  accounts: AccountScope,
): Promise<string[]> {
  let missing = [...names];
  for (const table of tablesOf(dimension)) {
    if (missing.length === 0) return [];
    const column = columns[dimension];
    const found = await namesIn(knex, table, column, accounts).whereIn(`named.${column}`, missing);
    const known = new Set(found.map(({ name }) => name));
    missing = missing.filter((name) => !known.has(name));
  }
  return missing;
}

export async function listKnownNames(
  knex: Knex,
  dimension: NamedDimension,
  accounts: AccountScope,
): Promise<string[]> {
  const column = columns[dimension];
  const names = new Set<string>();
  for (const table of tablesOf(dimension)) {
    const found = await namesIn(knex, table, column, accounts).limit(maxNames);
    for (const { name } of found) names.add(name);
  }
  return [...names];
}

type NameTable = 'runs' | 'billing_entries' | 'envelopes';

/** Booked entries are few and survive a purge; unbooked names are in millions of envelopes. */
function tablesOf(dimension: NamedDimension): readonly NameTable[] {
  return dimension === 'account' || dimension === 'campaign' ? ['runs'] : ['billing_entries', 'envelopes'];
}

function namesIn(knex: Knex, table: NameTable, column: string, accounts: AccountScope) {
  const query = knex<{ name: string }>({ named: table })
    .distinct<{ name: string }[]>({ name: `named.${column}` })
    .whereNotNull(`named.${column}`);
  if (accounts === null) return query;
  if (table === 'runs') return query.whereIn('named.account', [...accounts]);
  return query.join('runs', 'runs.run_id', 'named.run_id').whereIn('runs.account', [...accounts]);
}
