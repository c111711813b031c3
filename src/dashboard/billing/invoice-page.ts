import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import type { Reconciliation } from '../../engine/billing/reconcile.ts';
import { type Html, html } from '../../report/html/html.ts';
import { reconcileSheet } from '../../report/reconcile-sheet.ts';
import type { CallLimits } from '../../server/api/call-limits.ts';
import { sendSheet } from '../../server/api/send-report.ts';
import { textIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import { askedOf, notFound, type View, viewOf } from '../base/view.ts';
import { downloadLinks, isFormat } from '../parts/downloads.ts';
import { invoiceFieldsets } from './invoice-form.ts';
import {
  type AskedInvoice,
  type InvoiceQuestion,
  readInvoiceQuestion,
  searchOf,
} from './invoice-question.ts';
import { differencesShown, invoiceAnswer, problemList } from './invoice-view.ts';
import type { KeptInvoice, KeptInvoices } from './kept-invoices.ts';
import { compareKeptInvoice } from './read-invoice.ts';

/**
 * The differences between a kept invoice and the ledger.
 *
 * @param limits pages and downloads that are read at once
 */
export function addInvoicePage(server: FastifyInstance, invoices: KeptInvoices, limits: CallLimits): void {
  addPage(server, { path: '/billing/reconcile/:invoice', scope: 'read' }, async (view, { params, query }) => {
    const invoice = findInvoice(invoices, view, params['invoice'] ?? '');
    const { question, asked, problems } = readInvoiceQuestion(query, view);
    const answered = asked
      ? await limits.page(() => answer(view, invoice, question, asked))
      : nothingCompared;
    return {
      title: `Invoice ${invoice.name}`,
      within: { href: '/billing', text: 'Billing' },
      body: html`${answered}
<h2>Read or compare it in another way</h2>
<form method="get" action="${addressOf(invoice)}">${invoiceFieldsets(question, problems)}<p class="buttons"><button>Compare</button></p></form>
<p><a href="/billing/reconcile">Check another file</a></p>`,
    };
  });
  server.get('/billing/reconcile/:invoice/download', async (request, reply) => {
    const view = viewOf(request);
    const { params, query: fields } = askedOf(request);
    const invoice = findInvoice(invoices, view, params['invoice'] ?? '');
    const { asked } = readInvoiceQuestion(fields, view);
    const format = textIn(fields, 'format');
    if (!asked || !isFormat(format)) return reply.redirect(addressOf(invoice));
    await limits.report(reply, view.session.name, () =>
      compareKeptInvoice(view, invoice, asked, (found) =>
        sendSheet(reply, { name: 'invoice', format }, sheetOf(view, asked, found)),
      ),
    );
    return reply;
  });
}

const nothingCompared = html`<p class="error">Nothing was compared.</p>`;

export const addressOf = ({ id }: Pick<KeptInvoice, 'id'>): string => `/billing/reconcile/${id}`;

function findInvoice(invoices: KeptInvoices, { session }: View, id: string): KeptInvoice {
  const invoice = invoices.find(session.owner, id);
  if (invoice) return invoice;
  return notFound('This invoice is not kept any more: a file is kept for an hour. Choose it again.');
}

function sheetOf(view: View, { period, scope }: AskedInvoice, found: Reconciliation) {
  return reconcileSheet(found, period, scope, view.now);
}

async function answer(
  view: View,
  invoice: KeptInvoice,
  question: InvoiceQuestion,
  asked: AskedInvoice,
): Promise<Html> {
  try {
    return await compareKeptInvoice(view, invoice, asked, async (found) => {
      const sheet = sheetOf(view, asked, found);
      const first = await firstOf(sheet.rows, differencesShown);
      const download = (format: string): string =>
        `${addressOf(invoice)}/download?${searchOf(question)}&format=${format}`;
      return html`${invoiceAnswer(found, sheet, first)}${downloadLinks(download)}`;
    });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return html`<div role="alert">${nothingCompared}${problemList(error.problems)}</div>`;
  }
}

/** Ends the reading of the others. */
async function firstOf<Line>(batches: AsyncIterable<readonly Line[]>, limit: number): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const batch of batches) {
    lines.push(...batch.slice(0, limit - lines.length));
    if (lines.length >= limit) break;
  }
  return lines;
}
