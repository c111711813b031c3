import { guessColumns } from '../campaign/guess-columns.ts';
import { suppressionListColumns } from '../domain/files.ts';
import type { Channel } from '../domain/message.ts';
import { InputError } from '../domain/problems.ts';
import { maxSubAccountLength } from '../domain/suppressions.ts';
import type { AddressReader } from './address.ts';
import { cellDamage, cellFault } from './cell-notes.ts';
import type { ContactFile, Row } from './contact-file.ts';
import { unescapeText } from './opened-file.ts';

/** `account` and `subAccount` are empty if the address is suppressed for all. */
export type SuppressedAddress =
  | {
      readonly kind: 'address';
      readonly line: number;
      readonly address: string;
      readonly account: string;
      readonly subAccount: string;
    }
  | { readonly kind: 'unreadable'; readonly line: number; readonly detail: string };

export type ListFile = Pick<ContactFile, 'name' | 'header' | 'batches' | 'lines'>;

export type SuppressionFileOptions = {
  /** The channels of the addresses, from which their column is guessed. */
  readonly channels: readonly Channel[];
  readonly readAddress: AddressReader;
  /** Guessed by default. */
  readonly column?: string | undefined;
  /** For rows without their own account; empty: all. */
  readonly account?: string | undefined;
  /** For rows without their own SubAccount; empty: all. */
  readonly subAccount?: string | undefined;
};

/**
 * Reads a list of suppressed addresses in batches. Their column is the named one, else the one that would be a
 * contact file's recipient, else the only one. A column SubAccount applies per row. A list without a header has one
 * column, and its first line looks like an address. In a list from `volley suppress list --csv`, the column Account
 * applies per row, and rows of other channels are unreadable.
 *
 * @throws InputError when the address column is ambiguous
 */
export async function* readSuppressionFile(
  file: ListFile,
  options: SuppressionFileOptions,
): AsyncGenerator<readonly SuppressedAddress[], void, undefined> {
  const { header } = file;
  const subAccountColumn = header.findIndex(isSubAccount);
  const column = addressColumn(file, options);
  const isOurs = isOwnList(header);
  const channelColumn = isOurs ? header.indexOf('Channel') : -1;
  const accountColumn = isOurs ? header.indexOf('Account') : -1;

  const read = (row: Row): SuppressedAddress => {
    const { line } = row;
    if (row.kind === 'broken') return { kind: 'unreadable', line, detail: row.detail };
    const values = isOurs ? row.values.map(unescapeText) : row.values;
    const channel = values[channelColumn];
    if (channel !== undefined && !options.channels.some((one) => one === channel))
      return { kind: 'unreadable', line, detail: `its channel is "${channel}"` };
    const fault = [column, subAccountColumn, accountColumn]
      .map((each) => cellFault(row, each))
      .find((each) => each !== undefined);
    if (fault !== undefined) return { kind: 'unreadable', line, detail: fault };
    const address = options.readAddress(values[column] ?? '');
    if (address.kind === 'invalid') {
      return { kind: 'unreadable', line, detail: address.detail + cellDamage(row, column) };
    }
    const own = values[subAccountColumn]?.trim() || (options.subAccount ?? '');
    const account = values[accountColumn]?.trim() || (options.account ?? '');
    if (own.includes('\0') || account.includes('\0'))
      return { kind: 'unreadable', line, detail: 'the account or the SubAccount contains a NUL character' };
    if (own.length > maxSubAccountLength)
      return {
        kind: 'unreadable',
        line,
        detail: `its SubAccount has ${own.length} characters; expected at most ${maxSubAccountLength}`,
      };
    return { kind: 'address', line, address: address.address, account, subAccount: own };
  };

  if (options.column === undefined && isDataLine(header, options)) {
    yield [read({ kind: 'row', line: file.lines(), values: header })];
  }
  for await (const batch of file.batches) yield batch.map(read);
}

function addressColumn({ name, header }: ListFile, { channels, column }: SuppressionFileOptions): number {
  const columns = header.map((title) => `"${title}"`).join(', ');
  if (column !== undefined) {
    const position = header.indexOf(column);
    if (position >= 0) return position;
    throw new InputError([
      { where: name, what: `There is no column "${column}". The columns are ${columns}.` },
    ]);
  }
  if (isOwnList(header)) return header.indexOf('Address');
  for (const channel of channels) {
    const found = guessColumns('Recipient', channel, header);
    if (found.length > 1) throw ambiguousColumnError(name, found.map((title) => `"${title}"`).join(', '));
    const [only] = found;
    if (only !== undefined) return header.indexOf(only);
  }
  const others = header.filter((title) => !isSubAccount(title));
  const [only] = others;
  if (only === undefined || others.length > 1) throw ambiguousColumnError(name, columns);
  return header.indexOf(only);
}

function ambiguousColumnError(name: string, columns: string): InputError {
  const what = `Expected one column of addresses, and found ${columns}. Name it Recipient, or set it on import: \`volley suppress import --column\`.`;
  return new InputError([{ where: name, what }]);
}

function isOwnList(header: readonly string[]): boolean {
  return suppressionListColumns.every((column) => header.includes(column));
}

function isSubAccount(title: string): boolean {
  return /^sub[\s_-]*account$/i.test(title);
}

/**
 * Whether a list has no header. An invalid address counts as data: it is listed as unreadable, but as a header it
 * would be lost silently.
 */
function isDataLine(header: readonly string[], { channels, readAddress }: SuppressionFileOptions): boolean {
  const [first, ...others] = header;
  if (first === undefined || others.length > 0) return false;
  if (channels.some((channel) => guessColumns('Recipient', channel, header).length > 0)) return false;
  return readAddress(first).kind === 'valid' || first.includes('@') || (first.match(/\d/g)?.length ?? 0) >= 5;
}
