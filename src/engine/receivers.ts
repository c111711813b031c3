import { InputError } from '../domain.ts';
import { readReceiverAccounts } from '../gateway/receiver-accounts.ts';
import type { ReceiverAccount } from '../gateway/receiver-settings.ts';
import { accountsPath, readText } from './prepare.ts';
import type { Settings } from './settings.ts';

export type { ReceiverAccount } from '../gateway/receiver-settings.ts';

/**
 * The accounts that have a receiver, and what callers of each have to show.
 *
 * @throws InputError when the accounts file is faulty, or no account has one
 */
export async function receiverAccounts(settings: Settings): Promise<ReadonlyMap<string, ReceiverAccount>> {
  const path = accountsPath(settings);
  const source = await readText(path, settings, 'accounts');
  const accounts = readReceiverAccounts(source, path, settings.environment);
  if (accounts.size === 0) {
    const what = 'No account has a "webhookToken"; without one no delivery report can be received.';
    throw new InputError([{ where: path, what }]);
  }
  return accounts;
}
