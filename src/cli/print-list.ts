import { formatCsvRows, formatCsvTitles } from '../report/formats/csv.ts';
import type { SheetColumn } from '../report/formats/sheet.ts';
import type { Screen } from '../report/screen.ts';
import type { ListOutput } from './options.ts';
import type { Shell } from './shell.ts';

/** Rows of a table without --limit. */
const defaultLimit = 100;

export type ListForm<Row> = {
  readonly table: (page: readonly Row[], screen: Screen) => string;
  readonly columns: readonly SheetColumn<Row>[];
  readonly none: string;
};

/** @param list returns the number of rows; an undefined limit means all */
export async function printList<Row>(
  shell: Shell,
  { limit, json, csv }: ListOutput,
  { table, columns, none }: ListForm<Row>,
  list: (limit: number | undefined, onPage: (page: readonly Row[]) => void) => Promise<number>,
): Promise<void> {
  // A write for each line would cost more than everything else.
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

function withoutEnd(lines: string): string {
  return lines.replace(/\n$/, '');
}
