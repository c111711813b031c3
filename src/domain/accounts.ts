/** An account that goes by something of another one. */
export type SharedWith = { readonly account: string; readonly of: string };

/** What the accounts file says of it; an account without an entry shares nothing. */
export type AccountSharing = {
  /** Reports of `account` come to the webhook of `of`. */
  readonly webhooks: readonly SharedWith[];
  /** `account` goes by the suppressions of `of`, and adds to them. */
  readonly suppressions: readonly SharedWith[];
};

export const nothingShared: AccountSharing = { webhooks: [], suppressions: [] };

/** The account whose suppressions an account goes by: its own, or those it shares. */
export function suppressionsOf({ suppressions }: AccountSharing, account: string): string {
  return suppressions.find((shared) => shared.account === account)?.of ?? account;
}
