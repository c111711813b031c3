/** `account` uses something of the account `source`. */
export type AccountShare = { readonly account: string; readonly source: string };

/** What the accounts file says; an account without an entry shares nothing. */
export type AccountSharing = {
  /** Delivery reports of `account` arrive at the webhook of `source`. */
  readonly webhooks: readonly AccountShare[];
  /** `account` obeys the suppressions of `source`, and adds to them. */
  readonly suppressions: readonly AccountShare[];
};

export const noSharing: AccountSharing = { webhooks: [], suppressions: [] };

/** The account whose suppressions apply: its own or a shared one. */
export function suppressionSourceOf({ suppressions }: AccountSharing, account: string): string {
  return suppressions.find((shared) => shared.account === account)?.source ?? account;
}
