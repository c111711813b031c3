import { randomBytes } from 'node:crypto';
import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import type { ReceiverAccount } from '../../gateway/receiver-settings.ts';
import { deliveryReportCredentials } from '../../wire/delivery-report.ts';
import type { DeliveryReportCall } from '../../wire/delivery-report-call.ts';
import { observedMapping } from '../../wire/delivery-report-mapping.ts';
import { accountsPath } from '../definition-files.ts';
import { loadAccount, loadAccounts } from '../load-definition.ts';
import type { Settings } from '../settings.ts';
import type { FindMapping, InboxOptions } from './apply-inbox.ts';

/** For the server, which may not import the gateway. */
export type { ReceiverAccount } from '../../gateway/receiver-settings.ts';

/** @throws InputError when the accounts file is faulty or has no webhookToken */
export async function loadReceiverAccounts(
  settings: Settings,
): Promise<ReadonlyMap<string, ReceiverAccount>> {
  const accounts = (await loadAccounts(settings)).readReceivers(settings.environment);
  if (accounts.size === 0) {
    const what = 'No account has a "webhookToken". Set one to receive delivery reports.';
    throw new InputError([{ where: accountsPath(settings), what }]);
  }
  return accounts;
}

/** Checks take as long as for known accounts, and always fail. */
export const unknownAccount: ReceiverAccount = {
  name: '',
  tokenDigests: [randomBytes(32)],
  trustedProxies: [],
  mapping: observedMapping,
};

/** `Sender` and `APIKey`, under the account's own field names. */
export function readCredentials({ mapping }: ReceiverAccount, call: DeliveryReportCall) {
  return deliveryReportCredentials(call, mapping);
}

/** Accounts without a receiver use the observed field names. */
export function createMappingFinder(accounts: ReadonlyMap<string, ReceiverAccount>): FindMapping {
  return (name) => accounts.get(name)?.mapping ?? observedMapping;
}

/**
 * Loads the rules for a process that receives nothing; it needs no secrets.
 *
 * @throws InputError when the accounts file is faulty or missing
 */
export async function loadDeliveryReportRules(
  settings: Settings,
): Promise<Pick<InboxOptions, 'findMapping' | 'sharing'>> {
  const { mappings, sharing } = await loadAccounts(settings);
  return { findMapping: (name) => mappings.get(name) ?? observedMapping, sharing };
}

/** Accounts with a status look-up, and problems of those that cannot be loaded. */
export async function loadPollableAccounts(
  settings: Settings,
  names: Iterable<string>,
): Promise<{ readonly accounts: readonly Account[]; readonly problems: readonly string[] }> {
  const accounts: Account[] = [];
  const problems: string[] = [];
  for (const name of names) {
    try {
      const account = await loadAccount(name, settings);
      if (account.statusLookUp) accounts.push(account);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push(error.message);
    }
  }
  return { accounts, problems };
}
