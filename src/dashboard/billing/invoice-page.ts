import type { FastifyInstance, FastifyReply } from 'fastify';
import { openInvoiceInThread } from '../../contacts/open-invoice-in-thread.ts';
import { InputError } from '../../domain/problems.ts';
import { requireKnownNames } from '../../engine/billing/known-names.ts';
import { type Reconciliation, reconcileInvoice } from '../../engine/billing/reconcile.ts';
import { reconcileSheet } from '../../report/billing/reconcile-sheet.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { CallLimits } from '../../server/api/call-limits.ts';
import { sendSheet } from '../../server/api/send-report.ts';
import { addDownload, addPage } from '../base/pages.ts';
import { orInputError, problemItems } from '../base/problems.ts';
import { notFound, type View } from '../base/view.ts';
import { downloadLinks } from '../parts/downloads.ts';
import type { KeptFile, KeptFiles } from '../uploads/kept-files.ts';
import {
  type AskedInvoice,
  type InvoiceQuestion,
  invoiceFieldsets,
  readInvoiceQuestion,
  searchOf,
} from './invoice-question.ts';
import { differencesShown, inPageWords, invoiceAnswer } from './invoice-view.ts';

/**
 * The differences between a kept invoice and the ledger.
 *
 * @param limits pages and downloads that are read at once
 */
export function addInvoicePage(server: FastifyInstance, invoices: KeptFiles, limits: CallLimits): void {
  const path = '/billing/reconcile/:invoice';
  addPage(server, { path, scope: 'read' }, async (view, { params, query }) => {
    const invoice = findInvoice(invoices, view, params['invoice'] ?? '');
    const { question, asked, problems } = readInvoiceQuestion(query, view);
    const work = asked && limits.page(() => answer(view, invoice, question, asked));
    const answered = (await orInputError(Promise.resolve(work))) ?? nothingCompared;
    return {
      title: `Invoice ${invoice.name}`,
      within: { href: '/billing', text: 'Billing' },
      body: html`${answered instanceof InputError ? refusal(answered) : answered}
<h2>Read or compare it in another way</h2>
<form method="get" action="${addressOf(invoice)}">${invoiceFieldsets(question, problems)}<p class="buttons"><button>Compare</button></p></form>
<p><a href="/billing/reconcile">Check another file</a></p>`,
    };
  });
  addDownload(
    server,
    { path: `${path}/download`, scope: 'read' },
    async (view, { params, query }, format) => {
      const invoice = findInvoice(invoices, view, params['invoice'] ?? '');
      const { asked } = readInvoiceQuestion(query, view);
      if (!asked) return undefined;
      const send = (reply: FastifyReply) =>
        compareKeptInvoice(view, invoice, asked, (found) =>
          sendSheet(reply, { name: 'invoice', format }, sheetOf(view, asked, found)),
        );
      return { limit: limits.report, send };
    },
  );
}

const nothingCompared = html`<p class="error">Nothing was compared.</p>`;

/** The address of the page about a kept invoice. */
export const addressOf = ({ id }: Pick<KeptFile, 'id'>): string => `/billing/reconcile/${id}`;

function findInvoice(invoices: KeptFiles, { session }: View, id: string): KeptFile {
  const invoice = invoices.find(session.owner, id);
  if (invoice) return invoice;
  return notFound('This invoice is not kept any more: a file is kept for an hour. Choose it again.');
}

function sheetOf(view: View, { period, scope }: AskedInvoice, found: Reconciliation) {
  return reconcileSheet(found, period, scope, view.now);
}

async function answer(
  view: View,
  invoice: KeptFile,
  question: InvoiceQuestion,
  asked: AskedInvoice,
): Promise<Html> {
  return compareKeptInvoice(view, invoice, asked, async (found) => {
    const sheet = sheetOf(view, asked, found);
    const first = await firstOf(sheet.rows, differencesShown);
    const download = (format: string): string =>
      `${addressOf(invoice)}/download?${searchOf(question)}&format=${format}`;
    return html`${invoiceAnswer(found, sheet, first)}${downloadLinks(download)}`;
  });
}

function refusal({ problems }: InputError): Html {
  return html`<div role="alert">${nothingCompared}${problemItems(inPageWords(problems))}</div>`;
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

/** A packed file can hold far more than its size. */
const maxLines = 5_000_000;

/**
 * Compares a kept invoice with what the session may see, until the browser leaves.
 *
 * @throws InputError when the file cannot be read, or a name does not occur
 */
async function compareKeptInvoice<Result>(
  { context, session, left }: Pick<View, 'context' | 'session' | 'left'>,
  { name, path }: KeptFile,
  { period, scope, reading, skipUnreadable }: AskedInvoice,
  use: (found: Reconciliation) => Promise<Result>,
): Promise<Result> {
  const { accounts, subAccounts } = scope;
  const names = { account: accounts ?? [], SubAccount: subAccounts ?? [] };
  await requireKnownNames(context, names, session.accounts);
  const open = () => openInvoiceInThread(path, { ...reading, name }, left);
  const invoice = { name, open, maxLines, skipUnreadable };
  return reconcileInvoice(
    context,
    { invoice, period, scope: { ...scope, visibleAccounts: session.accounts } },
    use,
  );
}
