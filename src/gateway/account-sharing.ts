import type { AccountSharing, SharedWith } from '../domain/accounts.ts';
import { readYaml } from '../platform/yaml.ts';
import { accountsSchema } from './accounts.ts';
import { suppressionAccountOf } from './sharing-rules.ts';

/** What the accounts of a file share. No name needs to be set for it. @throws InputError for a faulty file */
export function readSharing(
  source: string,
  file: string,
): AccountSharing & { readonly names: readonly string[] } {
  const { accounts } = readYaml(source, file, accountsSchema).value;
  const names = Object.keys(accounts);
  const webhooks = names.flatMap((account): SharedWith[] => {
    const of = accounts[account]?.webhookOf;
    return of === undefined ? [] : [{ account, of }];
  });
  const suppressions = names.flatMap((account): SharedWith[] => {
    const of = suppressionAccountOf(accounts, account);
    return of === account ? [] : [{ account, of }];
  });
  return { webhooks, suppressions, names };
}
