import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Channel, channels } from '../../domain/message.ts';
import { InputError } from '../../domain/problems.ts';
import { maxSubAccountLength } from '../../domain/suppressions.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { Unsuppressed } from '../../engine/suppressions/suppress-addresses.ts';
import type { SuppressionKey } from '../../ledger/suppressions/remove.ts';
import { type Columns, integerColumn } from '../../report/column.ts';
import { printable } from '../../report/printable.ts';
import { askAnd, awayExits, cellsOf, changeExits, namedParts, type Part } from '../cells.ts';
import { argument, defineCommand, defineGroup, type OptionValues, option } from '../command.ts';
import { countryOption, jsonFlag, listOptions } from '../options.ts';
import { type Shell, withLedger } from '../shell.ts';

const addressesArgument = argument('<address...>', 'phone numbers or e-mail addresses');

const addressOptions = [
  option('--channel <channel...>', 'channels', { choices: channels, required: true }),
  option('--account <name>', 'only for this account (default: all)'),
  option('--sub-account <name>', 'only for this SubAccount', {
    read: parseSubAccount,
    default: '',
    defaultText: 'all',
  }),
  countryOption,
  jsonFlag,
] as const;

type Where = Omit<OptionValues<typeof addressOptions>, 'json' | 'account'> & { readonly account: string };

const reasonOption = option('--reason <words>', 'the reason', { default: '', defaultText: 'none' });

const add = defineCommand({
  description: 'Suppresses addresses. One that is suppressed keeps its reason.',
  arguments: [addressesArgument],
  options: [...addressOptions, reasonOption],
  exits: changeExits,
  examples: [
    [
      'volley suppress add ann@example.com --channel email --reason "asked by phone"',
      'never send there again',
    ],
  ],
  run: async (shell, [texts], { account: name, json, reason, ...where }) => {
    const { requireSuppressionAccount, suppressAddresses } = await loadSuppressing();
    const account = await requireSuppressionAccount(name, shell.settings);
    const keys = await keysOf(texts, { ...where, account });
    const suppress = async (context: EngineContext): Promise<Added> => {
      const added = await suppressAddresses(context, keys, reason);
      return { added, already: keys.length - added };
    };
    if (await changeInCells(shell, json, addedColumns, suppress)) return;
    const result = await withLedger(shell, suppress);
    shell.print(json ? JSON.stringify(result) : addedText(result));
  },
});

const remove = defineCommand({
  description:
    'Removes exactly these suppressions: one for an account or SubAccount needs --account or --sub-account.',
  arguments: [addressesArgument],
  options: addressOptions,
  exits: changeExits,
  examples: [['volley suppress remove ann@example.com --channel email', 'send there again']],
  run: async (shell, [texts], { account = '', json, ...where }) => {
    const { unsuppressAddresses } = await loadSuppressing();
    const keys = await keysOf(texts, { ...where, account });
    const unsuppress = (context: EngineContext) => unsuppressAddresses(context, keys);
    const inCells = await changeInCells(shell, json, removedColumns, unsuppress);
    if (inCells && !json)
      for (const { cell, value } of inCells)
        for (const key of value.remaining) shell.print(`cell ${cell}: ${keyText(key)} is still suppressed.`);
    if (inCells) return;
    const { removed, missing, remaining } = await withLedger(shell, unsuppress);
    if (json) {
      shell.print(JSON.stringify({ removed: removed.length, missing, others: remaining }));
      return;
    }
    shell.print(`${removed.length} removed.`);
    for (const key of missing) shell.print(`${keyText(key)} was not suppressed.`);
    for (const key of remaining) shell.print(`${keyText(key)} is still suppressed.`);
  },
});

const importFile = defineCommand({
  description:
    'Suppresses the addresses of a file. Columns SubAccount and, in lists of Volley, Account count for their row. Lines without an address are listed.',
  arguments: [argument('<file>', 'CSV or workbook (.xlsx), with a header or only addresses')],
  options: [
    ...addressOptions,
    option('--column <name>', 'the column of the addresses (default: guessed)'),
    reasonOption,
  ],
  exits: { 3: 'a line has no address; it failed in a cell' },
  examples: [['volley suppress import opted-out.csv --channel sms --country AU', 'import a list']],
  run: async (shell, [path], { account: name, channel, country, json, ...options }) => {
    const { requireSuppressionAccount } = await loadSuppressing();
    const { createSuppressedAddressReader, importSuppressionFile } = await loadReading();
    const { count } = await import('../../platform/sentence.ts');
    const account = await requireSuppressionAccount(name, shell.settings);
    const readAddress = createSuppressedAddressReader(channel, country);
    const file = resolve(shell.settings.workingFolder, path);
    const importInto = (context: EngineContext) =>
      importSuppressionFile(context, file, path, {
        channels: [...new Set(channel)],
        readAddress,
        account,
        ...options,
      });
    if (await cellsOf(shell)) await refusePipe(file, path);
    const inCells = await changeInCells(shell, json, addedColumns, importInto);
    const imported = inCells ? inCells[0]?.value : await withLedger(shell, importInto);
    if (imported === undefined) return;
    if (imported.unreadable > 0) shell.exitWith(3);
    if (!inCells) shell.print(json ? JSON.stringify(imported) : addedText(imported));
    if (json) return;
    const { unreadable, problems } = imported;
    for (const { where, what } of problems) shell.note(`${printable(where)}: ${printable(what)}`);
    if (unreadable === 0) return;
    const more = unreadable > problems.length ? `, the first ${problems.length} shown` : '';
    shell.note(`${count(unreadable, 'line')} without an address that can be suppressed${more}.`);
  },
});

/** Each cell reads the file, and a pipe can be read once. @param name as the user wrote it @throws InputError */
async function refusePipe(file: string, name: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (!found || found.isFile() || found.isDirectory()) return;
  const what = 'This is no regular file, and each cell reads it. Write the list to a file, and import that.';
  throw new InputError([{ where: name, what }]);
}

const list = defineCommand({
  description: 'Lists suppressions.',
  options: [
    option('--channel <channel>', 'only of this channel', { choices: channels }),
    option('--account <name>', 'only for this account'),
    option('--sub-account <name>', 'only for this SubAccount'),
    option('--address <address>', 'only this address'),
    countryOption,
    ...listOptions,
  ],
  exits: awayExits,
  examples: [['volley suppress list --channel sms', 'list suppressed numbers']],
  run: async (shell, _, { channel, account, subAccount, address, country, ...output }) => {
    const { listSuppressions } = await import('../../ledger/suppressions/list.ts');
    const { suppressionColumns } = await import('../../report/lists/suppressions.ts');
    const { printLedgerList } = await import('../output/print-list.ts');
    const form = { columns: suppressionColumns, none: 'No suppressions.' };
    const kind = channel ?? (address?.includes('@') ? 'email' : 'sms');
    const [normalised] = address === undefined ? [] : await readTexts([address], [kind], country);
    const filter = { channel, account, subAccount, address: normalised };
    await printLedgerList(shell, output, form, ({ ledger }, limit, onPage) =>
      listSuppressions(ledger.pool, filter, { limit, onPage, hashKey: ledger.hashKey }),
    );
  },
});

type Added = { readonly added: number; readonly already: number };

const addedColumns: Columns<Added> = [integerColumn('added', 'Added'), integerColumn('already', 'Already')];

const removedColumns: Columns<Unsuppressed> = [
  integerColumn('removed', 'Removed', ({ removed }) => removed.length),
  integerColumn('missing', 'Not suppressed', ({ missing }) => missing.length),
  integerColumn('others', 'Still suppressed', ({ remaining }) => remaining.length),
];

/**
 * Changes the suppressions of all cells, and prints what came of it in each.
 *
 * @returns what those that answer said; undefined where there are no cells
 */
async function changeInCells<Value>(
  shell: Shell,
  json: true | undefined,
  columns: Columns<Value>,
  change: (context: EngineContext) => Promise<Value>,
): Promise<readonly Part<Value>[] | undefined> {
  const cells = await cellsOf(shell);
  if (cells === undefined) return undefined;
  const { printChanged } = await import('../output/print-list.ts');
  const answers = await askAnd(shell, cells, 'write', change);
  printChanged(shell, json, columns, answers);
  return namedParts(answers.parts);
}

export const command = defineGroup(
  'Adds, removes, imports and lists addresses that must not be sent to, per channel, for all or one SubAccount.',
  { add, remove, import: importFile, list },
);

const loadSuppressing = () => import('../../engine/suppressions/suppress-addresses.ts');
const loadReading = () => import('../../engine/suppressions/import-suppressions.ts');

/** @throws InputError that does not quote the long name */
function parseSubAccount(name: string): string {
  if (name.length <= maxSubAccountLength) return name;
  const what = `The name has ${name.length} characters; the maximum is ${maxSubAccountLength}.`;
  throw new InputError([{ where: '--sub-account', what }]);
}

async function readTexts(
  texts: readonly string[],
  kinds: readonly Channel[],
  country: string | undefined,
): Promise<readonly string[]> {
  const { createSuppressedAddressReader, readAddresses } = await loadReading();
  return readAddresses(texts, createSuppressedAddressReader(kinds, country));
}

async function keysOf(
  texts: readonly string[],
  { channel, account, subAccount, country }: Where,
): Promise<SuppressionKey[]> {
  const addresses = new Set(await readTexts(texts, channel, country));
  return [...new Set(channel)].flatMap((name) =>
    [...addresses].map((address): SuppressionKey => ({ channel: name, address, account, subAccount })),
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
