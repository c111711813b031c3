import { type Campaign, readCampaign } from '../campaign/campaign.ts';
import type { SendingAccount } from '../campaign/sending-account.ts';
import type { Account } from '../gateway/account.ts';
import { type AccountsFile, openAccounts } from '../gateway/accounts-file.ts';
import { isLoopbackHost } from '../platform/address-list.ts';
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

/** @throws InputError for a campaign with mistakes that its file alone shows */
export async function loadCampaign(path: string, settings: Settings): Promise<Campaign> {
  return readCampaign(await readText(path, settings, 'campaign'), path);
}

/** What the account can send. */
export function sendingAccountOf({
  interface: interfaceName,
  format,
  baseUrl,
  allow,
}: Account): SendingAccount {
  return {
    interface: interfaceName,
    format,
    loopback: isLoopbackHost(new URL(baseUrl).hostname),
    ...(allow && { allow }),
  };
}
