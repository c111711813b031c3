import type { Account } from '../gateway/account.ts';
import { type AccountsFile, openAccounts } from '../gateway/accounts-file.ts';
import { accountsPath, readText } from './definition-files.ts';
import type { Settings } from './settings.ts';

/** @throws InputError if the accounts file is missing or invalid */
export async function loadAccounts(settings: Settings): Promise<AccountsFile> {
  const path = accountsPath(settings);
  return openAccounts(await readText(path, settings, 'accounts'), path);
}

/** @throws InputError if the accounts file or the account is invalid */
export async function loadAccount(name: string, settings: Settings, askedAt?: string): Promise<Account> {
  return (await loadAccounts(settings)).read(name, settings.environment, askedAt);
}
