import { randomBytes } from 'node:crypto';
import type { AccountSharing } from '../../domain/account-sharing.ts';
import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { readSharing } from '../../gateway/account-sharing.ts';
import { readDeliveryReportMappings, readReceiverAccounts } from '../../gateway/receiver-accounts.ts';
import type { ReceiverAccount } from '../../gateway/receiver-settings.ts';
import { deliveryReportCredentials } from '../../wire/delivery-report.ts';
import type { DeliveryReportCall } from '../../wire/delivery-report-call.ts';
import { observedMapping } from '../../wire/delivery-report-mapping.ts';
import { accountsPath, readText } from '../definition-files.ts';
import { loadAccount } from '../load-account.ts';
import type { Settings } from '../settings.ts';
import type { InboxOptions, MappingOf } from './apply-inbox.ts';

export type { ReceiverAccount } from '../../gateway/receiver-settings.ts';

/** @throws InputError when the accounts file is faulty, or no account has one */
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

/** For an account that there is not: its callers are looked at for as long as those of another, and never let in. */
export const unknownAccount: ReceiverAccount = {
  name: '',
  tokenDigests: [randomBytes(32)],
  trustedProxies: [],
  mapping: observedMapping,
};

/** `Sender` and `APIKey` of a call, under the names that the account's service has for them. */
export function credentialsIn({ mapping }: ReceiverAccount, call: DeliveryReportCall) {
  return deliveryReportCredentials(call, mapping);
}

/** What is received for an account that has no receiver any more is read under the observed names. */
export function mappingsOf(accounts: ReadonlyMap<string, ReceiverAccount>): MappingOf {
  return (name) => accounts.get(name)?.mapping ?? observedMapping;
}

/** @throws InputError when the accounts file is faulty, or not there */
export async function accountSharing(settings: Settings): Promise<AccountSharing> {
  const path = accountsPath(settings);
  return readSharing(await readText(path, settings, 'accounts'), path);
}

/**
 * How reports are read and applied, by the accounts file, where none are received: no secret is needed.
 *
 * @throws InputError when the accounts file is faulty, or not there
 */
export async function reportRules(settings: Settings): Promise<Pick<InboxOptions, 'mappingOf' | 'sharing'>> {
  const path = accountsPath(settings);
  const source = await readText(path, settings, 'accounts');
  const mappings = readDeliveryReportMappings(source, path);
  return {
    mappingOf: (name) => mappings.get(name) ?? observedMapping,
    sharing: readSharing(source, path),
  };
}

/**
 * The accounts whose service can be asked about missing reports, and why others cannot that say it could.
 *
 * @param names of those that reports are received for
 */
export async function pollableAccounts(
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
