import { CsvError, type Options, parse } from 'csv-parse/sync';

export const delimiters = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof delimiters)[number];

/** Characters. Otherwise an unclosed quote would turn the whole file into one value. */
export const maxRecordSize = 1_048_576;

/** `column` is an index; `what` completes a sentence. */
export type CsvFault = { readonly column: number; readonly what: string };

/** Those before the first faulty one. */
type ParsedRecords = { readonly records: readonly (readonly string[])[]; readonly fault?: CsvFault };

/**
 * Parses records with quotes by csv-parse.
 *
 * @param texts non-empty records with paired quotes, without line ends
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

/** Parses again to keep the records before the fault. */
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
