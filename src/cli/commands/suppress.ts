import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { type Channel, channels } from '../../domain/message.ts';
import { InputError } from '../../domain/problems.ts';
import { maxSubAccountLength } from '../../domain/suppressions.ts';
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
import { printable } from '../../report/printable.ts';
import { formatSuppression, suppressionColumns, suppressionTable } from '../../report/suppressions.ts';
import { parseCountry } from '../country-option.ts';
import { addListOptions, type ListOutput, printList } from '../list-output.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command.description(
    'Adds, removes, imports and lists addresses that must not be sent to, per channel, for all or one SubAccount.',
  );
  defineAdd(command, shell);
  defineRemove(command, shell);
  defineImport(command, shell);
  defineList(command, shell);
}

type AddressOptions = {
  channel: Channel[];
  account?: string;
  subAccount: string;
  country?: string;
  json?: true;
};

function defineAdd(command: Command, shell: Shell): void {
  addAddressOptions(command.command('add'))
    .description('Suppresses addresses. An address that is suppressed already keeps its earlier reason.')
    .argument('<address...>', 'phone numbers or e-mail addresses')
    .addOption(reasonOption())
    .action(async (texts: string[], options: AddressOptions & { reason: string }) => {
      const keys = keysOf(texts, await requireSuppressionAccount(options.account, shell.settings), options);
      const added = await withLedger(shell, (context) => suppressAddresses(context, keys, options.reason));
      const result = { added, already: keys.length - added };
      shell.print(options.json ? JSON.stringify(result) : addedText(result));
    });
}

function defineRemove(command: Command, shell: Shell): void {
  addAddressOptions(command.command('remove'))
    .description(
      'Removes suppressions. A suppression for one account or SubAccount is removed only with --account or --sub-account.',
    )
    .argument('<address...>', 'phone numbers or e-mail addresses')
    .action(async (texts: string[], options: AddressOptions) => {
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
    });
}

function defineImport(command: Command, shell: Shell): void {
  addAddressOptions(command.command('import'))
    .description(
      'Suppresses the addresses of a CSV file or a workbook (.xlsx). A row can have its own SubAccount in the column SubAccount, and in lists of Volley its own account in the column Account. Lines without an address are listed, the others are imported, and the exit code is 3.',
    )
    .argument('<file>', 'a CSV file or a workbook, with a header or with addresses only')
    .option(
      '--column <name>',
      "the column of the addresses (default: the column that would be a contact file's recipient, or the only column)",
    )
    .addOption(reasonOption())
    .action(async (path: string, options: AddressOptions & { reason: string; column?: string }) => {
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
    });
}

function defineList(command: Command, shell: Shell): void {
  addListOptions(
    command
      .command('list')
      .description('Lists suppressions by channel, address, account and SubAccount.')
      .addOption(new Option('--channel <channel>', 'only of this channel').choices(channels))
      .option('--account <name>', 'only for this account')
      .option('--sub-account <name>', 'only for this SubAccount')
      .option('--address <address>', 'only this phone number or e-mail address')
      .option('--country <country>', 'country of a number without a country code', parseCountry),
  ).action(async (options: ListOptions) => {
    const form = { table: suppressionTable, columns: suppressionColumns, none: 'No suppressions.' };
    await withLedgerToRead(shell, ({ ledger }) =>
      printList(shell, options, form, (limit, onPage) =>
        listSuppressions(
          ledger.pool,
          filterOf(options),
          limit,
          (page) => onPage(page.map(formatSuppression)),
          ledger.hashKey,
        ),
      ),
    );
  });
}

type ListOptions = ListOutput & {
  channel?: Channel;
  account?: string;
  subAccount?: string;
  address?: string;
  country?: string;
};

function filterOf({ channel, account, subAccount, address, country }: ListOptions) {
  if (address === undefined) return { channel, account, subAccount };
  const kind = channel ?? (address.includes('@') ? 'email' : 'sms');
  const [normalised] = readAddresses([address], createSuppressedAddressReader([kind], country));
  return { channel, account, subAccount, address: normalised };
}

function addAddressOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--channel <channel...>', 'the channels of the suppression')
        .choices(channels)
        .makeOptionMandatory(),
    )
    .option('--account <name>', 'only for messages of this account (default: all accounts)')
    .option('--sub-account <name>', 'only for messages of this SubAccount', parseSubAccount, '')
    .option('--country <country>', 'country of numbers without a country code', parseCountry)
    .option('--json', 'print the result as JSON');
}

function reasonOption(): Option {
  return new Option('--reason <words>', 'the reason').default('', 'none');
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

/** @throws InputError that does not quote the long name */
function parseSubAccount(name: string): string {
  if (name.length <= maxSubAccountLength) return name;
  const what = `The name has ${name.length} characters; the maximum is ${maxSubAccountLength}.`;
  throw new InputError([{ where: '--sub-account', what }]);
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
  shell.note(`${unreadable} lines have no address that can be suppressed${more}.`);
}
