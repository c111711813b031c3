/**
 * How addresses compare. RFC 5321 allows `Ann@example.org` and `ann@example.org` to differ; here they are
 * equal. Addresses are ASCII, and phone numbers begin with a plus sign. `ledger/compared-address.ts` does the
 * same in SQL.
 */

/** How an address of a contact, a recipient or a suppression is compared. Suppressions are stored in this form. */
export function comparedAddress(address: string): string {
  return address.toLowerCase();
}

/** How an address in a delivery report or an invoice is compared: the service may omit the plus sign of a number. */
export function comparedServiceAddress(address: string): string {
  return comparedAddress(address).replace(/^\++/, '');
}
