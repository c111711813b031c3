import type { FastifyInstance } from 'fastify';
import { bookBilling } from '../../engine/billing/billing.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { Tools } from '../base/tools.ts';
import { createKeptFiles } from '../uploads/kept-files.ts';
import { addBillingPage } from './billing-page.ts';
import { addInvoicePage } from './invoice-page.ts';
import { addCloseMonth, addMonthsPage } from './months-page.ts';
import { addRequestsPage } from './requests-page.ts';
import { addUploadPage } from './upload-page.ts';

/** Billing reports, closed months, and invoices to check. */
export function addBillingPages(
  server: FastifyInstance,
  { context, limits }: Pick<Tools, 'context' | 'limits'>,
): void {
  const invoices = createKeptFiles('volley-invoices', 3);
  server.addHook('onClose', () => invoices.close());
  addBillingPage(server, limits, bookInBackground(server, context));
  addRequestsPage(server, limits.page);
  addMonthsPage(server);
  addCloseMonth(server);
  addInvoicePage(server, invoices, limits);
  addUploadPage(server, invoices);
}

/**
 * A page adds up what is not booked. Without a receiver, which books, that would grow while runs are sent: so the page
 * books for the next one.
 *
 * @returns begins to book, unless that has begun, and returns at once
 */
function bookInBackground(server: FastifyInstance, context: EngineContext): () => void {
  let booking: Promise<void> | undefined;
  let isClosed = false;
  server.addHook('onClose', async () => {
    isClosed = true;
    await booking;
  });
  return () => {
    booking ??= bookBilling(context, () => !isClosed)
      // A failure loses nothing: the next page books.
      .catch(() => undefined)
      .finally(() => {
        booking = undefined;
      });
  };
}
