import { resolve } from 'node:path';
import type { Channel } from '../../domain/message.ts';
import {
  createSuppressedAddressReader,
  importSuppressionFile,
  readAddresses,
  type SuppressionImport,
} from '../../engine/suppressions/import-suppressions.ts';
import {
  requireSuppressionAccount,
  suppressAddresses,
  unsuppressAddresses,
} from '../../engine/suppressions/suppress-addresses.ts';
import { listSuppressions } from '../../ledger/suppressions/list.ts';
import type { SuppressionKey } from '../../ledger/suppressions/remove.ts';
import { count } from '../../platform/sentence.ts';
import { printable } from '../../report/printable.ts';
import { formatSuppression, suppressionColumns, suppressionTable } from '../../report/suppressions.ts';
import type { ListOutput } from '../list-options.ts';
import { printList } from '../print-list.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

export type AddressOptions = {
  channel: Channel[];
  account?: string;
  subAccount: string;
  country?: string;
  json?: true;
};

export type ListOptions = ListOutput & {
  channel?: Channel;
  account?: string;
  subAccount?: string;
  address?: string;
  country?: string;
};

export async function addAction(
  shell: Shell,
  texts: string[],
  options: AddressOptions & { reason: string },
): Promise<void> {
  const keys = keysOf(texts, await requireSuppressionAccount(options.account, shell.settings), options);
  const added = await withLedger(shell, (context) => suppressAddresses(context, keys, options.reason));
  const result = { added, already: keys.length - added };
  shell.print(options.json ? JSON.stringify(result) : addedText(result));
}

export async function removeAction(shell: Shell, texts: string[], options: AddressOptions): Promise<void> {
  const keys = keysOf(texts, options.account ?? '', options);
  const { removed, missing, remaining } = await withLedger(shell, (context) =>
    unsuppressAddresses(context, keys),
  );
  if (options.json) {
    shell.print(JSON.stringify({ removed: removed.length, missing, others: remaining }));
    return;
  }
  shell.print(`${removed.length} removed.`);
  for (const key of missing) shell.print(`${keyText(key)} was not suppressed.`);
  for (const key of remaining) shell.print(`${keyText(key)} is still suppressed.`);
}

export async function importAction(
  shell: Shell,
  path: string,
  options: AddressOptions & { reason: string; column?: string },
): Promise<void> {
  const { channel, subAccount, reason, column, country } = options;
  const account = await requireSuppressionAccount(options.account, shell.settings);
  const readAddress = createSuppressedAddressReader(channel, country);
  const imported = await withLedger(shell, (context) =>
    importSuppressionFile(context, resolve(shell.settings.workingFolder, path), path, {
      channels: [...new Set(channel)],
      readAddress,
      column,
      account,
      subAccount,
      reason,
    }),
  );
  shell.print(options.json ? JSON.stringify(imported) : addedText(imported));
  if (!options.json) printUnreadable(shell, imported);
  if (imported.unreadable > 0) shell.exitWith(3);
}

export async function listAction(shell: Shell, options: ListOptions): Promise<void> {
  const form = { table: suppressionTable, columns: suppressionColumns, none: 'No suppressions.' };
  await withLedgerToRead(shell, ({ ledger }) =>
    printList(shell, options, form, (limit, onPage) =>
      listSuppressions(ledger.pool, filterOf(options), {
        limit,
        onPage: (page) => onPage(page.map(formatSuppression)),
        hashKey: ledger.hashKey,
      }),
    ),
  );
}

function filterOf({ channel, account, subAccount, address, country }: ListOptions) {
  if (address === undefined) return { channel, account, subAccount };
  const kind = channel ?? (address.includes('@') ? 'email' : 'sms');
  const [normalised] = readAddresses([address], createSuppressedAddressReader([kind], country));
  return { channel, account, subAccount, address: normalised };
}

function keysOf(texts: readonly string[], account: string, options: AddressOptions): SuppressionKey[] {
  const { channel, subAccount, country } = options;
  const addresses = readAddresses(texts, createSuppressedAddressReader(channel, country));
  return [...new Set(channel)].flatMap((name) =>
    [...new Set(addresses)].map(
      (address): SuppressionKey => ({ channel: name, address, account, subAccount }),
    ),
  );
}

function keyText({ channel, address, account = '', subAccount }: SuppressionKey): string {
  const ofAccount = account === '' ? '' : ` for account "${printable(account)}"`;
  const ofSubAccount = subAccount === '' ? '' : ` for SubAccount "${printable(subAccount)}"`;
  return `${printable(address)} (${channel})${ofAccount}${ofSubAccount}`;
}

function addedText({ added, already }: { readonly added: number; readonly already: number }): string {
  return already === 0 ? `${added} suppressed.` : `${added} suppressed; ${already} were suppressed already.`;
}

function printUnreadable(shell: Shell, { unreadable, problems }: SuppressionImport): void {
  for (const { where, what } of problems) shell.note(`${printable(where)}: ${printable(what)}`);
  if (unreadable === 0) return;
  const more = unreadable > problems.length ? `, the first ${problems.length} shown` : '';
  shell.note(`${count(unreadable, 'line')} without an address that can be suppressed${more}.`);
}
