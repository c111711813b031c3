import type { AccountShare, AccountSharing } from '../domain/account-sharing.ts';
import { readYaml } from '../platform/yaml.ts';
import { accountsSchema } from './accounts-schema.ts';
import { suppressionAccountOf } from './sharing-rules.ts';

/** What the accounts of a file share. No name needs to be set for it. @throws InputError for a faulty file */
export function readSharing(
  source: string,
  file: string,
): AccountSharing & { readonly names: readonly string[] } {
  const { accounts } = readYaml(source, file, accountsSchema).value;
  const names = Object.keys(accounts);
  const webhooks = names.flatMap((account): AccountShare[] => {
    const source = accounts[account]?.webhookOf;
    return source === undefined ? [] : [{ account, source }];
  });
  const suppressions = names.flatMap((account): AccountShare[] => {
    const source = suppressionAccountOf(accounts, account);
    return source === account ? [] : [{ account, source }];
  });
  return { webhooks, suppressions, names };
}
