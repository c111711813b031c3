import { InputError } from '../domain.ts';
import { readWebhookTokens } from '../gateway/accounts.ts';
import { accountsPath, readText } from './prepare.ts';
import type { Settings } from './settings.ts';

/**
 * The accounts that have a receiver, and the secret last part of each one's path.
 *
 * @throws InputError when the accounts file is faulty, or no account has one
 */
export async function receiverTokens(settings: Settings): Promise<ReadonlyMap<string, string>> {
  const path = accountsPath(settings);
  const tokens = readWebhookTokens(await readText(path, settings, 'accounts'), path, settings.environment);
  if (tokens.size === 0) {
    const what = 'No account has a "webhookToken"; without one no delivery report can be received.';
    throw new InputError([{ where: path, what }]);
  }
  return tokens;
}
