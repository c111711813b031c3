import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** A contact file of which it is known what is wrong with which line. */
export type BadRows = {
  readonly rows: number;
  /** In the order of the file. */
  readonly rejected: readonly { readonly line: number; readonly reason: 'invalid' | 'duplicate' }[];
};

/** One row in so many is bad. */
const badEvery = 33;

/** What is wrong with a row; `number` is a good one that no other row has. */
const badKinds: readonly {
  readonly reason: 'invalid' | 'duplicate';
  readonly write: (number: string, earlier: string) => string;
}[] = [
  { reason: 'invalid', write: (number) => `${number},Ann` },
  { reason: 'invalid', write: (number) => `${number},Ann,AU,too many` },
  { reason: 'invalid', write: (number) => `"${number},Ann,AU` },
  { reason: 'invalid', write: (number) => `${number},"Ann,AU` },
  { reason: 'invalid', write: (number) => `${number},"Ann"x,AU` },
  { reason: 'invalid', write: () => '12,Ann,AU' },
  { reason: 'invalid', write: () => '02 9876 5432,Ann,AU' },
  { reason: 'invalid', write: (number) => `${number},Ann,Atlantis` },
  { reason: 'duplicate', write: (_, earlier) => `${earlier},Ann,AU` },
];

/**
 * Writes a file with 3 % bad rows of every kind among good ones, quoted ones, values over several lines, blank lines and
 * both kinds of line ends.
 */
export async function writeBadRows(path: string, rows: number): Promise<BadRows> {
  const rejected: { line: number; reason: 'invalid' | 'duplicate' }[] = [];
  async function* text(): AsyncGenerator<string, void, undefined> {
    let piece = 'mobile,name,country\n';
    let line = 2;
    for (let row = 0; row < rows; row++) {
      const end = row % 7 === 0 ? '\r\n' : '\n';
      const number = numberOf(row);
      if (row % badEvery === badEvery - 1) {
        const kind = badKinds[Math.floor(row / badEvery) % badKinds.length];
        if (!kind) throw new Error('no kind');
        rejected.push({ line, reason: kind.reason });
        piece += kind.write(number, numberOf(row - 1)) + end;
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
  return { rows, rejected };
}

function numberOf(row: number): string {
  return `04${String(row).padStart(8, '0')}`;
}
