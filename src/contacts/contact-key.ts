import { hash } from 'node:crypto';
import type { Composition } from '../campaign/composition.ts';
import { comparedAddress } from '../domain/compared-address.ts';
import { resultFileColumns } from '../domain/files.ts';

/** A digest of 32 hexadecimal digits that identifies a contact instead of its address. */
export type ContactKey =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'invalid'; readonly column: string; readonly detail: string };

export type KeyReader = (valueIn: (column: string) => string, address: string) => ContactKey;

const resultColumns = new Set<string>(resultFileColumns);

/**
 * Reads a row's key: the columns of `contacts.key`, or with `duplicates: allow` the whole row without a result
 * file's own columns. Uses the normalised address, and other values trimmed.
 *
 * @returns undefined if addresses identify contacts
 */
export function createKeyReader(
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
