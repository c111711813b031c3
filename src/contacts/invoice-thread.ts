import { on } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { InputError, type Problem } from '../domain/problems.ts';
import { readFileBytes } from './file-bytes.ts';
import type { InvoiceLine, UnreadableLine } from './invoice-file.ts';
import { type InvoiceReading, openInvoice } from './open-invoice.ts';

/** Plain data, because messages between threads are copied. */

export type InvoiceThreadData = { readonly path: string; readonly reading: InvoiceReading };

/** Whatever the thread is sent asks for the next message. */
export type FromInvoiceThread =
  | { readonly kind: 'opened'; readonly hasUnits: boolean; readonly hasDate: boolean }
  | { readonly kind: 'batch'; readonly lines: readonly (InvoiceLine | UnreadableLine)[] }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] };

const port = parentPort;
if (!port) throw new Error('this module must run in a worker thread');
const questions = on(port, 'message');
const send = (message: FromInvoiceThread): void => port.postMessage(message);

try {
  const { path, reading }: InvoiceThreadData = workerData;
  const { batches, close: _, ...opened } = await openInvoice(readFileBytes(path, reading.name), reading);
  send({ kind: 'opened', ...opened });
  for await (const lines of batches) {
    // A batch ahead, and no more: what the ledger has not taken would fill the memory.
    await questions.next();
    send({ kind: 'batch', lines });
  }
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  send({ kind: 'refused', problems: error.problems });
}
// An open port would keep the thread running.
port.close();
