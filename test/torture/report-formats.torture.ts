import { expect, test } from 'vitest';
import { formatSheet } from '../../src/report/formats/format-sheet.ts';
import type { ReportFormat, Sheet } from '../../src/report/formats/sheet.ts';
import { liveHeap } from '../support/live-heap.ts';
import { aLine, aSheet, type BillLine } from '../support/sheets.ts';

const lines = 5_000_000;
const batchSize = 2_000;
const mebibyte = 1024 * 1024;
const bound = 32 * mebibyte;

/** Different lines, made one batch at a time. */
async function* manyLines(onBatch: () => void): AsyncGenerator<readonly BillLine[], void, undefined> {
  for (let first = 0; first < lines; first += batchSize) {
    onBatch();
    yield Array.from({ length: batchSize }, (_, index) => {
      const number = first + index;
      return aLine({ name: `=Line ${number}`, requests: number, price: `${number}.${number % 10}5` });
    });
  }
}

test.each<ReportFormat>(['csv', 'json', 'ndjson', 'html', 'xlsx', 'table'])(
  'a report of 5,000,000 lines as %s needs constant memory',
  async (format) => {
    let batches = 0;
    let early = 0;
    let peak = 0;
    const sheet: Sheet<BillLine> = aSheet([], {
      rows: manyLines(() => {
        batches++;
        // Each measurement needs a garbage collection.
        if (batches % 100 !== 0) return;
        const held = liveHeap() + process.memoryUsage().arrayBuffers;
        if (batches === 100) early = held;
        peak = Math.max(peak, held);
      }),
      totals: () => [aLine({ name: 'Total', requests: lines })],
    });
    let bytes = 0;
    for await (const piece of formatSheet(sheet, format)) bytes += piece.length;
    console.log(
      `${format}: ${Math.round(bytes / mebibyte)} MiB, ${Math.round((peak - early) / 1024)} KiB more`,
    );
    expect(batches).toBe(lines / batchSize);
    expect(peak - early).toBeLessThan(bound);
  },
);
