import type { Account } from '../gateway/account.ts';
import { readAccount } from '../gateway/read-account.ts';
import { accountsPath, readText } from './definition-files.ts';
import type { Settings } from './settings.ts';

/** @throws InputError if the accounts file or the account is invalid */
export async function loadAccount(name: string, settings: Settings, askedAt?: string): Promise<Account> {
  const path = accountsPath(settings);
  return readAccount(await readText(path, settings, 'accounts'), {
    file: path,
    name,
    environment: settings.environment,
    requestedAt: askedAt,
  });
}
