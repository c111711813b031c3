import type { Away, CellAnswers, CellPart } from '../../engine/cells/ask-cells.ts';
import type { EngineContext } from '../../engine/context.ts';
import { type Column, type Columns, columnsFor, textColumn } from '../../report/column.ts';
import { formatCsvRows, formatCsvTitles } from '../../report/formats/csv.ts';
import { toRecord } from '../../report/formats/json.ts';
import { withCell } from '../../report/lists/usual.ts';
import { formatTable } from '../../report/table.ts';
import { askAnd, cellsOf, noteAway, noteUnchanged, type Part, problemOf } from '../cells.ts';
import { CellsAwayError } from '../failures.ts';
import type { ListOutput } from '../options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

/** Rows of a table without --limit. */
const defaultLimit = 100;

type ListForm<Row> = {
  readonly columns: Columns<Row>;
  /** Printed in place of a table without rows. */
  readonly none: string;
};

/** Prints a list of any length. @param list returns the number of rows; an undefined limit means all */
export async function printList<Row>(
  shell: Shell,
  { limit, json, csv }: ListOutput,
  { columns, none }: ListForm<Row>,
  list: (limit: number | undefined, onPage: (page: readonly Row[]) => void) => Promise<number>,
): Promise<void> {
  if (json) {
    await list(limit, (page) => shell.print(jsonLines(columns, page)));
  } else if (csv) {
    const inFile = columnsFor(columns, 'file');
    shell.print(withoutEnd(formatCsvTitles(inFile)));
    await list(limit, (page) => shell.print(withoutEnd(formatCsvRows(inFile, page))));
  } else {
    const listed = await list(limit ?? defaultLimit, (page) =>
      shell.print(formatTable(columns, page, shell.screen)),
    );
    if (listed === 0) shell.print(none);
    if (limit === undefined && listed === defaultLimit)
      shell.note(`The first ${listed}; --limit <number> lists more, --json or --csv all.`);
  }
}

/**
 * Prints a list of the ledger, or of all cells, one after the other.
 *
 * @throws CellsAwayError when no cell answers
 */
export async function printLedgerList<Row extends object>(
  shell: Shell,
  output: ListOutput,
  form: ListForm<Row>,
  list: (
    context: EngineContext,
    limit: number | undefined,
    onPage: (page: readonly Row[]) => void,
  ) => Promise<number>,
): Promise<void> {
  const cells = await cellsOf(shell);
  if (cells === undefined)
    return withLedgerToRead(shell, (context) =>
      printList(shell, output, form, (limit, onPage) => list(context, limit, onPage)),
    );
  const overCells = { ...form, columns: withCell(form.columns) };
  await printList(shell, output, overCells, async (limit, onPage) => {
    const parts: CellPart<number>[] = [];
    const away: Away[] = [];
    let listed = 0;
    for (const cell of cells) {
      const rest = limit === undefined ? undefined : limit - listed;
      if (rest === 0) break;
      const onPageOfCell = (page: readonly Row[]): void => {
        listed += page.length;
        onPage(page.map((row) => ({ ...row, cell: cell.name })));
      };
      const answers = await askAnd(shell, [cell], 'read', (context) => list(context, rest, onPageOfCell));
      parts.push(...answers.parts);
      away.push(...answers.away);
    }
    if (away.length === cells.length) throw new CellsAwayError(away.map(problemOf));
    noteAway(shell, { parts, away });
    return listed;
  });
}

/** Prints what came of a change in each cell. @throws InputError when every cell refuses it */
export function printChanged<Value>(
  shell: Shell,
  json: true | undefined,
  columns: Columns<Value>,
  answers: CellAnswers<Value>,
): void {
  noteUnchanged(shell, answers);
  type Changed = { readonly cell: string; readonly answer: CellPart<Value> | Away };
  const ofChanged = ({ key, title, kind, value }: Column<Value>): Column<Changed> => ({
    key,
    title,
    kind,
    value: ({ answer }) => (answer.kind === 'answered' ? value(answer.value) : null),
  });
  const failed = textColumn<Changed>('failed', 'Failed', ({ answer }) =>
    answer.kind === 'away' ? answer.why : null,
  );
  const all = withCell([...columns.map(ofChanged), failed]);
  const rows = [...answers.parts, ...answers.away].map((answer) => ({ cell: answer.cell.name, answer }));
  printRows(shell, json, { columns: all, none: '' }, rows);
}

export function printRows<Row>(
  shell: Shell,
  json: true | undefined,
  { columns, none }: ListForm<Row>,
  rows: readonly Row[],
): void {
  if (!json) shell.print(rows.length === 0 ? none : formatTable(columns, rows, shell.screen));
  else if (rows.length > 0) shell.print(jsonLines(columns, rows));
}

/** The rows of a list over cells, cell by cell. */
export function rowsOf<Row extends object>(
  parts: readonly Part<readonly Row[]>[],
): (Row & { readonly cell: string | null })[] {
  return parts.flatMap(({ cell, value }) => value.map((row) => ({ ...row, cell })));
}

/** The columns of a list; over cells it has one more. */
export function columnsOver<Row>(
  parts: readonly Part<unknown>[],
  columns: Columns<Row>,
): Columns<Row & { readonly cell: string | null }> {
  return parts.every(({ cell }) => cell === null) ? columns : withCell(columns);
}

/** One text, because a write for each line would cost more than everything else. */
export function jsonLines<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  return rows.map((row) => JSON.stringify(toRecord(columns, row))).join('\n');
}

function withoutEnd(lines: string): string {
  return lines.replace(/\n$/, '');
}
