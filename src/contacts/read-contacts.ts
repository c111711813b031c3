import { hash } from 'node:crypto';
import type { ComposedVariants } from '../campaign/compose-variants.ts';
import type { Composition } from '../campaign/composition.ts';
import type { ValueIn } from '../campaign/invalid.ts';
import { comparedAddress } from '../domain/compared-address.ts';
import type { Contact } from '../domain/contacts.ts';
import { resultFileColumns } from '../domain/files.ts';
import { countryOf, didYouMeanCountry } from '../platform/countries.ts';
import type { AddressReader } from './address.ts';
import { type CellNote, cellDamage, cellFault } from './cell-notes.ts';
import type { ContactFile, Row } from './contact-file.ts';
import { originColumn } from './opened-file.ts';
import { createMessageReader } from './read-message.ts';

/** Maps, normalises and validates rows, in order. Closes all files at the end, and when the caller stops early. */
export async function* readContacts(
  files: readonly ContactFile[],
  composed: ComposedVariants,
  readAddress: AddressReader,
  watch: RowWatch = {},
): AsyncGenerator<readonly Contact[], void, undefined> {
  try {
    for (const [file, { header, batches, format }] of files.entries()) {
      const { onCell, ...others } = watch;
      const watched = format().kind === 'workbook' ? watch : others;
      const readRow = rowReader({ file, header, composed, readAddress }, watched);
      for await (const rows of batches) {
        const contacts: Contact[] = [];
        for (const row of rows) {
          const contact = readRow(row);
          if (contact) contacts.push(contact);
          else watch.onFiltered?.();
        }
        yield contacts;
      }
    }
  } finally {
    for (const file of files) await file.close();
  }
}

type UsedCell = {
  /** An index. */
  readonly file: number;
  readonly line: number;
  readonly column: string;
  readonly text: string;
  readonly note: CellNote | undefined;
};

export type RowWatch = {
  /** A cell of a workbook that is not empty, in a column that the campaign uses. */
  readonly onCell?: (cell: UsedCell) => void;
  /** Whether a contact carries its whole row. Rows that live longer than their batch cost a fifth of the time. */
  readonly keepsValues?: ((valueIn: ValueIn) => boolean) | undefined;
  /** A row that `contacts.where` excludes. */
  readonly onFiltered?: (() => void) | undefined;
  /** A row of a result file, with its run. */
  readonly onOrigin?: (run: string) => void;
  /** A valid row without a value for a column amid the text of the message. */
  readonly onEmptyValue?: (file: number, line: number, column: string) => void;
  /** With the country used to read the address. */
  readonly onWrongAddress?: (text: string, country: string | undefined) => void;
};

/** Undefined: the campaign excludes the row. */
type RowReader = (row: Row) => Contact | undefined;

type ReadFile = {
  readonly file: number;
  readonly header: readonly string[];
  readonly composed: ComposedVariants;
  readonly readAddress: AddressReader;
};

function rowReader(
  { file, header, composed, readAddress }: ReadFile,
  { keepsValues, onWrongAddress, onOrigin, onCell, onEmptyValue }: RowWatch,
): RowReader {
  const { composition, assign } = composed;
  const { recipientColumn, countryColumn, filter, readZones, identity } = composition;
  const readMessage = createMessageReader(composed, readAddress);
  const readKey = createKeyReader(composition, header);
  const positions = new Map(header.map((column, index) => [column, index]));
  const originPosition = positions.get(originColumn);
  const recipientPosition = positions.get(recipientColumn) ?? -1;
  const withPosition = (column: string): [string, number] => [column, positions.get(column) ?? -1];
  const usedPositions = composition.requiredColumns.map(withPosition);
  const textPositions = composition.columnsInText.filter((column) => positions.has(column)).map(withPosition);
  // One lookup for all rows, because each row needs several values.
  let values: readonly string[] = [];
  const valueIn = (column: string): string => values[positions.get(column) ?? -1] ?? '';

  return (row) => {
    const { line } = row;
    const reject = (column: string, detail: string): Contact => {
      return { kind: 'rejected', file, line, column, reason: 'invalid', detail };
    };
    if (row.kind === 'broken') return reject('', row.detail);
    ({ values } = row);
    if (onCell) {
      for (const [column, position] of usedPositions) {
        const text = values[position] ?? '';
        if (text !== '') onCell({ file, line, column, text, note: row.notes?.[position] });
      }
    }
    for (const [column, position] of row.notes ? usedPositions : []) {
      const fault = cellFault(row, position);
      if (fault !== undefined) return reject(column, fault);
    }
    if (originPosition !== undefined) {
      const origin = values[originPosition]?.trim() ?? '';
      if (origin !== '') onOrigin?.(origin);
    }
    if (filter && !filter(valueIn)) return undefined;

    const country = countryColumn === undefined ? '' : valueIn(countryColumn).trim();
    const ownCountry = country === '' ? undefined : countryOf(country);
    if (country !== '' && ownCountry === undefined) {
      const hint = didYouMeanCountry(country).replace(/^ (.*)$/, '. $1');
      const detail = `"${country}" is not a country with phone numbers; expected a code such as NZ, or its English name${hint}`;
      return reject(countryColumn ?? '', detail);
    }
    const originalAddress = values[recipientPosition] ?? '';
    const address = readAddress(originalAddress, ownCountry);
    if (address.kind === 'invalid') {
      onWrongAddress?.(originalAddress, ownCountry ?? composition.country);
      return reject(recipientColumn, address.detail + cellDamage(row, recipientPosition));
    }

    const key = readKey?.(valueIn, address.address);
    if (key?.kind === 'invalid') return reject(key.column, key.detail);
    const variant = assign?.(key && identity.key.length > 0 ? key.key : comparedAddress(address.address));
    const message = readMessage(valueIn, ownCountry, variant);
    if (message.kind === 'invalid') return reject(message.column, message.detail);
    const zones = readZones?.(valueIn, address.address);
    if (zones?.kind === 'invalid') return reject(zones.column, zones.detail);
    if (onEmptyValue) {
      for (const [column, position] of textPositions)
        if ((values[position] ?? '') === '') onEmptyValue(file, line, column);
    }
    const kept = keepsValues?.(valueIn) ? values : undefined;
    const { envelope, destination, alternatives } = message;
    const read = { address: address.address, originalAddress, envelope, destination, values: kept };
    if (zones === undefined && key === undefined && variant === undefined)
      return { kind: 'contact', file, line, ...read };
    return {
      kind: 'contact',
      file,
      line,
      ...read,
      ...(zones && { zones: zones.zones }),
      ...(key && { key: key.key }),
      ...(variant !== undefined && { variant }),
      ...(alternatives && { alternatives }),
    };
  };
}

/** A digest of 32 hexadecimal digits that identifies a contact instead of its address. */
type ContactKey =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'invalid'; readonly column: string; readonly detail: string };

type KeyReader = (valueIn: (column: string) => string, address: string) => ContactKey;

const resultColumns = new Set<string>(resultFileColumns);

/**
 * Reads a row's key: the columns of `contacts.key`, or with `duplicates: allow` the whole row without a result
 * file's own columns. Uses the normalised address, and other values trimmed.
 *
 * @returns undefined if addresses identify contacts
 */
function createKeyReader(
  { identity: { key, duplicates }, recipientColumn }: Composition,
  header: readonly string[],
): KeyReader | undefined {
  const [firstColumn] = key;
  if (firstColumn === undefined && duplicates !== 'allow') return undefined;
  const columns =
    firstColumn === undefined ? header.filter((column) => !resultColumns.has(column)).toSorted() : key;
  return (valueIn, address) => {
    const pairs = columns
      .map((column) => [
        column,
        column === recipientColumn ? comparedAddress(address) : valueIn(column).trim(),
      ])
      // A result file has the columns of all files of its run.
      .filter(([, value]) => value !== '');
    if (firstColumn !== undefined && pairs.length === 0) {
      const detail = 'is empty, but "contacts.key" identifies rows by it';
      return { kind: 'invalid', column: firstColumn, detail };
    }
    return { kind: 'key', key: hash('sha256', JSON.stringify(pairs), 'hex').slice(0, 32) };
  };
}
