/**
 * How addresses compare. `Ann@example.org` and `ann@example.org` may be two mailboxes by the letter of RFC 5321, and are
 * one everywhere here. A recipient's address is ASCII, and a number of one has a plus sign. `ledger/compared-address.ts`
 * says the same in SQL.
 */

/** An address among those of our own: of contacts, recipients and suppressions. The last are kept like this. */
export function comparedAddress(address: string): string {
  return address.toLowerCase();
}

/** An address beside one that the service writes, in a report or an invoice: it may leave out the plus sign of a number. */
export function comparedWithService(address: string): string {
  return comparedAddress(address).replace(/^\++/, '');
}
