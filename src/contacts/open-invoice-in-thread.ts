import { on } from 'node:events';
import { InputError } from '../domain/problems.ts';
import { hasCode } from '../platform/file-error.ts';
import { startThread } from '../platform/start-thread.ts';
import type { FromInvoiceThread, InvoiceThreadData } from './invoice-thread.ts';
import type { InvoiceReading, OpenedInvoice } from './open-invoice.ts';

/** Bytes; also of the buffers with the shared texts of a workbook, which are no part of the limits below. */
const maxUnpacked = 64 * 1_048_576;
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 } as const;

/**
 * Opens an invoice that a person has sent: in a thread, so that it can neither hold up the process nor fill its memory.
 *
 * @param stop ends the thread
 * @throws InputError as `openInvoice`, and when the file is larger than a thread may read
 */
export async function openInvoiceInThread(
  path: string,
  reading: Omit<InvoiceReading, 'maxUnpacked'>,
  stop: AbortSignal,
): Promise<OpenedInvoice> {
  stop.throwIfAborted();
  const data: InvoiceThreadData = { path, reading: { ...reading, maxUnpacked } };
  const thread = startThread(new URL('./invoice-thread', import.meta.url), {
    workerData: data,
    name: 'invoice',
    resourceLimits,
  });
  const messages = on(thread, 'message', { signal: stop, close: ['exit'] });
  const close = async (): Promise<void> => {
    await thread.terminate();
    await messages.return?.();
  };
  // Also while the ledger takes its time, and asks for no batch.
  stop.addEventListener('abort', () => void thread.terminate(), { once: true });
  /** @returns undefined at the end */
  const read = async (): Promise<FromInvoiceThread | undefined> => {
    const { value } = await messages.next().catch((error: unknown) => {
      throw hasCode(error, 'ERR_WORKER_OUT_OF_MEMORY') ? needsTooMuch(reading.name) : error;
    });
    const message: FromInvoiceThread | undefined = value?.[0];
    if (message?.kind === 'refused') throw new InputError(message.problems);
    return message;
  };
  async function* batches() {
    for (;;) {
      thread.postMessage('next');
      const message = await read();
      if (message?.kind !== 'batch') return;
      yield message.lines;
    }
  }
  try {
    const opened = await read();
    if (opened?.kind !== 'opened') throw new Error('the thread that reads the invoice has ended');
    return { ...opened, batches: batches(), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function needsTooMuch(name: string): InputError {
  const what =
    'It needs more memory than a page may use. `volley billing reconcile --invoice <file>` compares an invoice of any size.';
  return new InputError([{ where: name, what }]);
}
