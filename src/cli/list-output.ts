import { type Command, Option } from 'commander';
import { formatCsvRows, formatCsvTitles } from '../report/formats/csv.ts';
import type { SheetColumn } from '../report/formats/sheet.ts';
import type { Screen } from '../report/screen.ts';
import { parseWholeNumber } from './options.ts';
import type { Shell } from './shell.ts';

/** Of the commands that list what there may be millions of: a table of the first for people, or all for programs. */
export type ListOutput = { readonly limit?: number; readonly json?: true; readonly csv?: true };

/** Most that a table lists, where nothing is said. */
const defaultLimit = 100;

export function addListOptions(command: Command): Command {
  return command
    .option('--limit <number>', 'most to list (default: 100, or all with --json or --csv)', parseWholeNumber)
    .option('--json', 'print one JSON object a line')
    .addOption(
      new Option('--csv', 'print as CSV, in which no text is a formula to a spreadsheet').conflicts('json'),
    );
}

export type ListForm<Row> = {
  readonly table: (page: readonly Row[], screen: Screen) => string;
  readonly columns: readonly SheetColumn<Row>[];
  readonly none: string;
};

/** @param list gives pages, of at most so many rows together; undefined for all. Resolves to the number of rows. */
export async function printList<Row>(
  shell: Shell,
  { limit, json, csv }: ListOutput,
  { table, columns, none }: ListForm<Row>,
  list: (limit: number | undefined, onPage: (page: readonly Row[]) => void) => Promise<number>,
): Promise<void> {
  // One write a page: one a line costs more than all the rest.
  if (json) {
    await list(limit, (page) => shell.print(page.map((row) => JSON.stringify(row)).join('\n')));
  } else if (csv) {
    shell.print(withoutEnd(formatCsvTitles(columns)));
    await list(limit, (page) => shell.print(withoutEnd(formatCsvRows(columns, page))));
  } else {
    const listed = await list(limit ?? defaultLimit, (page) => shell.print(table(page, shell.screen)));
    if (listed === 0) shell.print(none);
    if (limit === undefined && listed === defaultLimit)
      shell.note(`The first ${listed}; --limit <number> lists more, --json or --csv all.`);
  }
}

/** The shell ends what it prints. */
function withoutEnd(lines: string): string {
  return lines.replace(/\n$/, '');
}
