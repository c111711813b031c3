import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** A rejected contact, as the ledger lists it. */
export type ExpectedRejection = {
  readonly line: number;
  readonly reason: 'invalid' | 'duplicate';
  /** Empty if the row cannot be read. */
  readonly column: string;
  readonly detail: string;
};

/** A contact file with known problems. */
export type InvalidContactFile = {
  readonly rows: number;
  /** The first line of each row, in file order. */
  readonly lines: readonly number[];
  /** In file order. */
  readonly rejected: readonly ExpectedRejection[];
};

/** One row in this many is invalid. */
const invalidEvery = 33;

/** A valid row, and the one before it. */
type RowContext = { readonly number: string; readonly earlier: string; readonly lineOfEarlier: number };

type InvalidKind = {
  readonly reason?: 'duplicate';
  readonly column?: string;
  readonly detail: (row: RowContext) => string;
  readonly write: (row: RowContext) => string;
};

const neverClosed = 'a quote (") opens and is never closed';
const textAfterQuote =
  'text stands after a closing quote ("); a quote inside a quoted value is written twice';
const quoteInside =
  'a quote (") stands inside a value that does not begin with one; put the value in quotes, and write the quote inside twice';

const invalidKinds: readonly InvalidKind[] = [
  {
    write: ({ number }) => `${number},Ann`,
    detail: () => '2 values, but the header has 3 columns',
  },
  {
    write: ({ number }) => `${number},Ann,AU,too many`,
    detail: () => '4 values, but the header has 3 columns',
  },
  { write: ({ number }) => `"${number},Ann,AU`, detail: () => `value 1: ${neverClosed}` },
  { write: ({ number }) => `${number},"Ann,AU`, detail: () => `value 2: ${neverClosed}` },
  { write: ({ number }) => `${number},"Ann"x,AU`, detail: () => `value 2: ${textAfterQuote}` },
  { write: ({ number }) => `${number}, "Ann",AU`, detail: () => `value 2: ${quoteInside}` },
  { write: () => '12,Ann,AU', column: 'mobile', detail: () => '"12" is not a number in use in AU' },
  { write: () => 'n/a,Ann,AU', column: 'mobile', detail: () => '"n/a" is not a phone number' },
  {
    write: () => '02 9876 5432,Ann,AU',
    column: 'mobile',
    detail: () => '"02 9876 5432" is a landline in AU',
  },
  {
    write: ({ number }) => `${number},Ann,Atlantis`,
    column: 'country',
    detail: () =>
      '"Atlantis" is not a country with phone numbers; expected a code such as NZ, or its English name',
  },
  {
    write: ({ earlier }) => `${earlier},Ann,AU`,
    reason: 'duplicate',
    column: 'mobile',
    detail: ({ lineOfEarlier }) => `same address as line ${lineOfEarlier}, but its message differs`,
  },
];

/**
 * Writes a file with 3 % invalid rows of every kind, quoted values, values over several lines, blank lines and both
 * kinds of line ends.
 */
export async function writeInvalidContactFile(path: string, rows: number): Promise<InvalidContactFile> {
  const rejected: ExpectedRejection[] = [];
  const lines: number[] = [];
  async function* text(): AsyncGenerator<string, void, undefined> {
    let piece = 'mobile,name,country\n';
    let line = 2;
    for (let row = 0; row < rows; row++) {
      const end = row % 7 === 0 ? '\r\n' : '\n';
      const number = mobileOf(row);
      const context = { number, earlier: mobileOf(row - 1), lineOfEarlier: lines[row - 1] ?? 0 };
      lines.push(line);
      const invalid = invalidKindOf(row);
      if (invalid) {
        const { reason = 'invalid', column = '' } = invalid;
        rejected.push({ line, reason, column, detail: invalid.detail(context) });
        piece += invalid.write(context) + end;
      } else if (row % 50 === 10) {
        piece += `${number},"two${end}lines, ""quoted""",AU${end}`;
        line++;
      } else {
        piece += row % 10 === 3 ? `"${number}","Ann, ${row}",""${end}` : `${number},Ann ${row},AU${end}`;
      }
      line++;
      if (row % 1_000 === 500) {
        piece += end;
        line++;
      }
      if (piece.length < 65_536) continue;
      yield piece;
      piece = '';
    }
    yield piece;
  }
  await pipeline(text(), createWriteStream(path));
  return { rows, lines, rejected };
}

function invalidKindOf(row: number): InvalidKind | undefined {
  return row % invalidEvery === invalidEvery - 1
    ? invalidKinds[Math.floor(row / invalidEvery) % invalidKinds.length]
    : undefined;
}

/** The number of a row as written; unique among valid rows. */
export function mobileOf(row: number): string {
  return `04${String(row).padStart(8, '0')}`;
}
