import type { BillingQuery } from '../ledger/billing/report.ts';

/** Options that select lines of a billing report, and what they select by. */
export const filters = {
  subAccount: 'SubAccount',
  department: 'Department',
  chargeCode: 'ChargeCode',
  account: 'account',
  campaign: 'campaign',
  channel: 'channel',
  run: 'run',
} as const satisfies Readonly<Record<string, keyof BillingQuery['filter']>>;

export type FilterOption = keyof typeof filters;

export function entriesOf<Key extends string, Value>(record: Readonly<Record<Key, Value>>): [Key, Value][] {
  const keys: Key[] = [];
  for (const key in record) keys.push(key);
  return keys.map((key) => [key, record[key]]);
}
