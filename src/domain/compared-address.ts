/**
 * How addresses compare. RFC 5321 allows `Ann@example.org` and `ann@example.org` to differ; here they are
 * equal. Addresses are ASCII, and phone numbers begin with a plus sign. `ledger/compared-address.ts` does the
 * same in SQL.
 */

/** For addresses of contacts, recipients and suppressions. Suppressions are stored in this form. */
export function comparedAddress(address: string): string {
  return address.toLowerCase();
}

/** For addresses from a delivery report or invoice: the service may omit the plus sign of a number. */
export function comparedServiceAddress(address: string): string {
  return comparedAddress(address).replace(/^\++/, '');
}
