import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { copyValue } from '../copy.ts';
import { parseMessageId } from '../message-id.ts';
import type { Transaction } from '../session.ts';

/** `address` is in lower case without a plus sign. */
export type StagedInvoiceLine = {
  readonly line: number;
  readonly messageId: string;
  readonly destination: string;
  readonly address: string;
  readonly date: string | null;
  /** Decimal text. */
  readonly units: string | null;
  /** Decimal text. */
  readonly price: string | null;
};

/** Copies an invoice, with run and request from its MessageIDs, to a temporary table, in constant memory. */
export async function stageInvoice(
  client: Transaction,
  batches: AsyncIterable<readonly StagedInvoiceLine[]>,
): Promise<void> {
  await client.query(`
    CREATE TEMPORARY TABLE invoice_lines (
      line integer NOT NULL, message_id text NOT NULL, run_number integer, request integer, destination text NOT NULL, address text COLLATE "C" NOT NULL,
      date text, units numeric, price numeric
    ) ON COMMIT DROP
  `);
  async function* lines(): AsyncGenerator<string, void, undefined> {
    for await (const batch of batches) yield batch.map(copyLine).join('');
  }
  await pipeline(
    Readable.from(lines()),
    client.query(
      copyFrom(
        'COPY invoice_lines (line, message_id, run_number, request, destination, address, date, units, price) FROM STDIN',
      ),
    ),
  );
  await client.query('ANALYZE invoice_lines');
}

function copyLine({ line, messageId, destination, address, date, units, price }: StagedInvoiceLine): string {
  const parsed = parseMessageId(messageId);
  const columns = [
    line,
    copyValue(messageId),
    parsed?.runNumber,
    parsed?.request,
    copyValue(destination),
    copyValue(address),
    date === null ? undefined : copyValue(date),
    units,
    price,
  ];
  return `${columns.map((column) => column ?? '\\N').join('\t')}\n`;
}
