import type { z } from 'zod';
import type { AccountShare, AccountSharing } from '../domain/account-sharing.ts';
import { didYouMean } from '../platform/suggestions.ts';

const sharingKeys = ['webhookOf', 'suppressionsOf'] as const;

type Sharing = { readonly [Key in (typeof sharingKeys)[number]]?: string | undefined };

/** By default, accounts with one webhook share their suppressions. */
export function suppressionAccountOf(accounts: Readonly<Record<string, Sharing>>, name: string): string {
  const { webhookOf, suppressionsOf } = accounts[name] ?? {};
  if (suppressionsOf !== undefined) return suppressionsOf;
  return webhookOf === undefined ? name : (accounts[webhookOf]?.suppressionsOf ?? webhookOf);
}

export function sharingOf(accounts: Readonly<Record<string, Sharing>>): AccountSharing {
  const sharesBy = (sourceOf: (account: string) => string | undefined): AccountShare[] =>
    Object.keys(accounts).flatMap((account) => {
      const source = sourceOf(account) ?? account;
      return source === account ? [] : [{ account, source }];
    });
  return {
    webhooks: sharesBy((account) => accounts[account]?.webhookOf),
    suppressions: sharesBy((account) => suppressionAccountOf(accounts, account)),
  };
}

/** Reports unknown accounts, and chains of accounts. */
export function checkSharing(
  accounts: Readonly<Record<string, Sharing>>,
  context: z.core.$RefinementCtx<unknown>,
): void {
  for (const [name, account] of Object.entries(accounts)) {
    for (const key of sharingKeys) {
      const message = sharingProblem(accounts, name, key, account[key]);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name, key], message });
    }
  }
}

function sharingProblem(
  accounts: Readonly<Record<string, Sharing>>,
  name: string,
  key: keyof Sharing,
  otherAccount: string | undefined,
): string | undefined {
  if (otherAccount === undefined) return undefined;
  if (otherAccount === name) return 'expected another account; leave the line out';
  const other = Object.hasOwn(accounts, otherAccount) ? accounts[otherAccount] : undefined;
  if (!other) return `expected an account of this file.${didYouMean(otherAccount, Object.keys(accounts))}`;
  const third = other[key];
  return third === undefined ? undefined : `"${otherAccount}" itself uses ${third}; expected ${third}`;
}
