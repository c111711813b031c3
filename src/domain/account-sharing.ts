/** An account that goes by something of another one. */
export type AccountShare = { readonly account: string; readonly source: string };

/** What the accounts file says of it; an account without an entry shares nothing. */
export type AccountSharing = {
  /** Reports of `account` come to the webhook of `of`. */
  readonly webhooks: readonly AccountShare[];
  /** `account` goes by the suppressions of `of`, and adds to them. */
  readonly suppressions: readonly AccountShare[];
};

export const noSharing: AccountSharing = { webhooks: [], suppressions: [] };

/** The account whose suppressions an account goes by: its own, or those it shares. */
export function suppressionSourceOf({ suppressions }: AccountSharing, account: string): string {
  return suppressions.find((shared) => shared.account === account)?.source ?? account;
}
