import { Buffer } from 'node:buffer';
import { formatSheet } from '../../src/report/formats/format-sheet.ts';
import type { ReportFormat, Sheet } from '../../src/report/formats/sheet.ts';

/** A line of an invented bill. */
export type BillLine = {
  readonly name: string | null;
  readonly requests: number | string;
  readonly price: string | null;
  readonly last: Date | null;
};

export function aLine(changes: Partial<BillLine> = {}): BillLine {
  return { name: 'North', requests: 2, price: '1.50', last: new Date('2026-11-03T04:05:06Z'), ...changes };
}

export function aSheet(
  batches: readonly (readonly BillLine[])[],
  changes: Partial<Sheet<BillLine>> = {},
): Sheet<BillLine> {
  return {
    title: 'Bill',
    subtitle: ['2026-11-01 to 2026-12-01 (Pacific/Auckland)'],
    asOf: { at: new Date('2026-12-01T00:00:00Z') },
    columns: [
      { key: 'name', title: 'Name', kind: 'text', value: ({ name }) => name },
      { key: 'requests', title: 'Requests', kind: 'integer', value: ({ requests }) => requests },
      { key: 'price', title: 'Price', kind: 'decimal', value: ({ price }) => price },
      { key: 'last', title: 'Last', kind: 'time', value: ({ last }) => last },
    ],
    rows: inOrder(batches),
    ...changes,
  };
}

export async function* inOrder<Item>(items: readonly Item[]): AsyncGenerator<Item, void, undefined> {
  yield* items;
}

export async function written<Row>(sheet: Sheet<Row>, format: ReportFormat): Promise<Buffer> {
  return concatenate(formatSheet(sheet, format));
}

export async function concatenate(pieces: AsyncIterable<string | Uint8Array>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const piece of pieces) chunks.push(Buffer.from(piece));
  return Buffer.concat(chunks);
}
