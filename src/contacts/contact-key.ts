import { hash } from 'node:crypto';
import type { Composition } from '../campaign/composition.ts';
import { comparedAddress } from '../domain/compared-address.ts';
import { resultFileColumns } from '../domain/files.ts';

/** What tells a contact from others, where that is not its address: a digest, as a UUID is written but for the dashes. */
export type ContactKey =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'invalid'; readonly column: string; readonly detail: string };

export type KeyReader = (valueIn: (column: string) => string, address: string) => ContactKey;

const resultColumns = new Set<string>(resultFileColumns);

/**
 * Reads the key of a row: the columns of `contacts.key`, or with `duplicates: allow` the whole row, without the columns
 * that a result file has added. The recipient counts as it is sent to, other values without the spaces around them.
 *
 * @returns undefined where contacts are told apart by their addresses
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
      const detail = 'is empty, and "contacts.key" tells rows apart by it';
      return { kind: 'invalid', column: firstColumn, detail };
    }
    return { kind: 'key', key: hash('sha256', JSON.stringify(pairs), 'hex').slice(0, 32) };
  };
}
