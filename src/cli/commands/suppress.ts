import { type Command, Option } from 'commander';
import { channels } from '../../domain/message.ts';
import { InputError } from '../../domain/problems.ts';
import { maxSubAccountLength } from '../../domain/suppressions.ts';
import type { AddressOptions, ListOptions } from '../actions/suppress.ts';
import { countryOption } from '../late-options.ts';
import { addListOptions } from '../list-options.ts';
import type { Shell } from '../shell.ts';

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  command.description(
    'Adds, removes, imports and lists addresses that must not be sent to, per channel, for all or one SubAccount.',
  );
  await defineAdd(command, shell, words);
  await defineRemove(command, shell, words);
  await defineImport(command, shell, words);
  await defineList(command, shell, words);
}

async function defineAdd(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  (await addAddressOptions(command.command('add'), words))
    .description('Suppresses addresses. An address that is suppressed already keeps its earlier reason.')
    .argument('<address...>', 'phone numbers or e-mail addresses')
    .addOption(reasonOption())
    .action(async (texts: string[], options: AddressOptions & { reason: string }) => {
      const { addAction } = await import('../actions/suppress.ts');
      await addAction(shell, texts, options);
    });
}

async function defineRemove(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  (await addAddressOptions(command.command('remove'), words))
    .description(
      'Removes suppressions. A suppression for one account or SubAccount is removed only with --account or --sub-account.',
    )
    .argument('<address...>', 'phone numbers or e-mail addresses')
    .action(async (texts: string[], options: AddressOptions) => {
      const { removeAction } = await import('../actions/suppress.ts');
      await removeAction(shell, texts, options);
    });
}

async function defineImport(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  (await addAddressOptions(command.command('import'), words))
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
      const { importAction } = await import('../actions/suppress.ts');
      await importAction(shell, path, options);
    });
}

async function defineList(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  addListOptions(
    command
      .command('list')
      .description('Lists suppressions by channel, address, account and SubAccount.')
      .addOption(new Option('--channel <channel>', 'only of this channel').choices(channels))
      .option('--account <name>', 'only for this account')
      .option('--sub-account <name>', 'only for this SubAccount')
      .option('--address <address>', 'only this phone number or e-mail address')
      .addOption(await countryOption(words, 'country of a number without a country code')),
  ).action(async (options: ListOptions) => {
    const { listAction } = await import('../actions/suppress.ts');
    await listAction(shell, options);
  });
}

async function addAddressOptions(command: Command, words: readonly string[]): Promise<Command> {
  return command
    .addOption(
      new Option('--channel <channel...>', 'the channels of the suppression')
        .choices(channels)
        .makeOptionMandatory(),
    )
    .option('--account <name>', 'only for messages of this account (default: all accounts)')
    .option('--sub-account <name>', 'only for messages of this SubAccount', parseSubAccount, '')
    .addOption(await countryOption(words, 'country of numbers without a country code'))
    .option('--json', 'print the result as JSON');
}

function reasonOption(): Option {
  return new Option('--reason <words>', 'the reason').default('', 'none');
}

/** @throws InputError that does not quote the long name */
function parseSubAccount(name: string): string {
  if (name.length <= maxSubAccountLength) return name;
  const what = `The name has ${name.length} characters; the maximum is ${maxSubAccountLength}.`;
  throw new InputError([{ where: '--sub-account', what }]);
}
