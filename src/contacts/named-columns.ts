import { plainName } from '../campaign/guess-columns.ts';
import type { ContactFile } from './opened-file.ts';
import type { Row } from './rows.ts';

/** Columns of a contact file by the names that a campaign has for them: `{ Phone: 'Mobile' }` reads Mobile as Phone. */
export type ColumnNames = Readonly<Record<string, string>>;

/**
 * Reads a contact file with the names of a campaign. A column with several names is there several times. Another
 * column with one of these names in the file gets a name that no campaign uses.
 */
export function withColumnNames(file: ContactFile, names: ColumnNames): ContactFile {
  const taken = new Set(Object.keys(names).map(plainName));
  const given = file.header.map((column, index) => {
    const wanted = Object.keys(names).filter((name) => names[name] === column);
    const own = taken.has(plainName(column)) ? `${column} (in the file)` : column;
    return (wanted.length > 0 ? wanted : [own]).map((name) => ({ name, index }));
  });
  // Further names come last, so that a cell keeps its letter in a workbook.
  const named = [...given.flatMap((each) => each.slice(0, 1)), ...given.flatMap((each) => each.slice(1))];
  const readRow = (row: Row): Row => {
    if (row.kind === 'broken') return row;
    const { values, notes } = row;
    return {
      ...row,
      values: named.map(({ index }) => values[index] ?? ''),
      notes: notes && named.map(({ index }) => notes[index]),
    };
  };
  async function* batches(): AsyncGenerator<readonly Row[], void, undefined> {
    for await (const rows of file.batches) yield rows.map(readRow);
  }
  return {
    ...file,
    header: named.map(({ name }) => name),
    place: (line, column) => file.place(line, column === undefined ? undefined : named[column]?.index),
    batches: batches(),
  };
}
