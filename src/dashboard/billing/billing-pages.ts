import type { FastifyInstance } from 'fastify';
import { bookBilling } from '../../engine/billing/billing.ts';
import { createPacedRead } from '../../engine/live/paced-read.ts';
import type { Tools } from '../base/tools.ts';
import { addBillingPage } from './billing-page.ts';
import { addCloseMonth } from './close-month.ts';
import { addInvoicePage } from './invoice-page.ts';
import { createKeptInvoices } from './kept-invoices.ts';
import { addMonthsPage } from './months-page.ts';
import { addRequestsPage } from './requests-page.ts';
import { addUploadPage } from './upload-page.ts';

/** Milliseconds between two bookings, at least. */
const leastPause = 1_000;

export async function addBillingPages(
  server: FastifyInstance,
  { context, limits: { report } }: Pick<Tools, 'context' | 'limits'>,
): Promise<void> {
  const invoices = createKeptInvoices(context.now);
  // The page adds up what is not booked. Without a receiver, which books, that would grow while runs are sent.
  const booking = createPacedRead(context, leastPause, () => bookBilling(context));
  server.addHook('onClose', () => invoices.close());
  addBillingPage(server, report, () => void booking.refresh());
  addRequestsPage(server, report);
  addMonthsPage(server);
  addCloseMonth(server);
  addInvoicePage(server, invoices, report);
  await addUploadPage(server, invoices);
}
