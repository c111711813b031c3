import type { CellNote } from './cell-notes.ts';

type UsedCell = {
  /** An index. */
  readonly file: number;
  readonly line: number;
  readonly column: string;
  readonly text: string;
  readonly note: CellNote | undefined;
};

export type MixedCells = {
  /** Is called for each cell of a used column that is not empty. */
  readonly add: (cell: UsedCell) => void;
  /** Sentences without a full stop, the first columns first. */
  readonly findings: () => string[];
};

type Cell = { readonly file: number; readonly line: number };
type Counts = { cells: number; dates: number; numbers: number; date?: Cell; number?: Cell };

/** A format can show zeros, or a plus sign, before a number. */
const withoutZeros = /^[1-9]\d*$/;

/**
 * Finds columns of a workbook in which few cells are of another kind than most: a spreadsheet makes dates of some
 * codes, and numbers without their zeros.
 */
export function createMixedCells(
  placeOf: (file: number, line: number, column: string) => string,
): MixedCells {
  const columns = new Map<string, Counts>();
  return {
    add: ({ file, line, column, text, note }) => {
      let counts = columns.get(column);
      if (counts === undefined) {
        counts = { cells: 0, dates: 0, numbers: 0 };
        columns.set(column, counts);
      }
      counts.cells++;
      if (note?.kind === 'date') {
        counts.dates++;
        counts.date ??= { file, line };
      } else if (note?.kind === 'number' && withoutZeros.test(text)) {
        counts.numbers++;
        counts.number ??= { file, line };
      }
    },
    findings: () =>
      [...columns].flatMap(([column, { cells, dates, numbers, date, number }]) => {
        const sentence = (few: number, first: Cell | undefined, what: string): string[] =>
          first === undefined || few * 2 > cells
            ? []
            : [
                `${few.toLocaleString('en')} of ${cells.toLocaleString('en')} cells of "${column}" ${few === 1 ? 'is' : 'are'} ${what}; see ${placeOf(first.file, first.line, column)}`,
              ];
        return [
          ...sentence(dates, date, `${dates === 1 ? 'a date' : 'dates'}, as spreadsheets make of codes`),
          ...sentence(
            numbers,
            number,
            numbers === 1
              ? 'a number, which has lost any zeros before it'
              : 'numbers, which have lost any zeros before them',
          ),
        ];
      }),
  };
}
