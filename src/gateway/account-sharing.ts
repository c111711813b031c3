import type { AccountShare, AccountSharing } from '../domain/account-sharing.ts';
import { readYaml } from '../platform/yaml.ts';
import { accountsSchema } from './accounts-schema.ts';
import { suppressionAccountOf } from './sharing-rules.ts';

/** @throws InputError for an invalid file */
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
