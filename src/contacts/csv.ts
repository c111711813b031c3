import { CsvError, type Options, parse } from 'csv-parse/sync';

/** What separates the values of a row. */
export const delimiters = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof delimiters)[number];

/** Characters. A quote that is never closed would otherwise take the whole file for one value. */
export const maxRecordSize = 1_048_576;

/** What is wrong with a record: in which value, from 0, and what, as half a sentence. */
export type CsvFault = { readonly column: number; readonly what: string };

/** The values of records up to the first that is faulty. */
export type ParsedRecords = { readonly records: readonly (readonly string[])[]; readonly fault?: CsvFault };

/**
 * The judge of everything with a quote in it.
 *
 * @param texts records with all their quotes in pairs, each without its line end, none of them empty
 */
export function parseRecords(texts: readonly string[], delimiter: Delimiter): ParsedRecords {
  const text = texts.join('\n');
  const options = { delimiter, record_delimiter: '\n', relax_column_count: true };
  try {
    return { records: parse(text, options) };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { code, column } = error;
    const fault = { column: Number(column), what: csvFaults[code] ?? error.message };
    return { records: texts.length > 1 ? recordsBeforeFault(text, options) : [], fault };
  }
}

/** Reads the same once more, to keep what was good. */
function recordsBeforeFault(text: string, options: Options): string[][] {
  const records: string[][] = [];
  const keep = (values: string[]): null => {
    records.push(values);
    return null;
  };
  try {
    parse(text, { ...options, on_record: keep });
  } catch {
    // The fault is known.
  }
  return records;
}

const csvFaults: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote (") opens and is never closed',
  CSV_INVALID_CLOSING_QUOTE:
    'text stands after a closing quote ("); a quote inside a quoted value is written twice',
  INVALID_OPENING_QUOTE:
    'a quote (") stands inside a value that does not begin with one; put the value in quotes, and write the quote inside twice',
};
