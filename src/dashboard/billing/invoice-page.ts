import type { FastifyReply } from 'fastify';
import { openInvoiceInThread } from '../../contacts/open-invoice-in-thread.ts';
import { InputError } from '../../domain/problems.ts';
import { requireKnownNames } from '../../engine/billing/known-names.ts';
import {
  keepInvoice,
  nameOfPeriod,
  type Reconciliation,
  reconcileInvoice,
} from '../../engine/billing/reconcile.ts';
import type { AskedDifferences } from '../../ledger/billing/reconcile.ts';
import { digestOfFile } from '../../platform/digest.ts';
import { type DifferenceLine, reconcileSheet } from '../../report/billing/reconcile-sheet.ts';
import { type Html, html } from '../../report/html/html.ts';
import { sendSheet } from '../../server/api/send-report.ts';
import { type Fields, numberIn } from '../base/fields.ts';
import { csrfField, type PageContent } from '../base/layout.ts';
import { sendPage } from '../base/pages.ts';
import { orInputError, problemItems } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, notFound, type View } from '../base/view.ts';
import { chooseColumns, downloadLinks } from '../parts/list.ts';
import { changedPath } from '../paths.ts';
import {
  createKeptFiles,
  fileField,
  type KeptFile,
  type KeptFiles,
  receiveFile,
} from '../uploads/kept-files.ts';
import { type AskedInvoice, invoiceFieldsets, readInvoiceQuestion } from './invoice-question.ts';
import {
  differencesPart,
  differencesPerPage,
  findingsPart,
  inPageColumns,
  inPageWords,
} from './invoice-view.ts';

/**
 * The differences between a kept invoice and the ledger.
 */
export function addInvoicePages(tools: Tools): void {
  const { server, limits, addPage, addDownload, addAction } = tools;
  const invoices = createKeptFiles('volley-invoices', 3);
  server.addHook('onClose', () => invoices.close());
  addUploadPage(tools, invoices);
  const path = '/billing/reconcile/:invoice';
  addPage({ path, scope: 'read' }, async (view, { params, query }) => {
    const invoice = findInvoice(invoices, view, params['invoice'] ?? '');
    const { question, asked, problems } = readInvoiceQuestion(query, view);
    const page = Math.max(1, numberIn(query, 'page'));
    const work = asked && limits.page(() => answer(view, invoice, asked, page));
    const answered = (await orInputError(Promise.resolve(work))) ?? { body: nothingCompared };
    const content = answered instanceof InputError ? { body: refusal(answered) } : answered;
    return {
      ...content,
      title: `Invoice ${invoice.name}`,
      within: { href: '/billing', text: 'Billing' },
      body: html`${content.body}
<h2>Read or compare it in another way</h2>
<form method="get" action="${addressOf(invoice)}">${invoiceFieldsets(question, problems)}<p class="buttons"><button>Compare</button></p></form>
<p><a href="/billing/reconcile">Check another file</a></p>`,
    };
  });
  addDownload({ path: `${path}/download`, scope: 'read' }, async (view, { params, query }, format) => {
    const invoice = findInvoice(invoices, view, params['invoice'] ?? '');
    const { asked } = readInvoiceQuestion(query, view);
    if (!asked) return undefined;
    const send = (reply: FastifyReply) =>
      compareKeptInvoice(view, invoice, { ...asked, differences: asked }, (found) =>
        sendSheet(reply, { name: 'invoice', format }, reconcileSheet(found, asked, view.now)),
      );
    return { limit: limits.report, send };
  });
  addAction({
    path: `${path}/keep`,
    scope: 'run',
    // Others do not see the whole result.
    allAccounts: true,
    needsReason: () => false,
    ask: async (view, given) => {
      const { invoice, asked } = toKeep(invoices, view, given);
      return {
        title: `Keep the result with ${nameOfPeriod(asked.period)}`,
        button: 'Keep the result',
        within: { href: view.address.replace('/keep', ''), text: `Invoice ${invoice.name}` },
        body: html`<p>The audit trail keeps the sums of each finding, the name and SHA-256 digest of the file, and your name, as long as its other entries. It does not keep the file.</p>`,
      };
    },
    act: async (view, given) => {
      const { invoice, asked } = toKeep(invoices, view, given);
      const digest = await digestOfFile(invoice.path);
      const keep = (found: Reconciliation) => keepInvoice(view.context, { ...asked, found, digest });
      // The signal of a form that has arrived is aborted.
      const going = { ...view, left: new AbortController().signal };
      const isNew = await limits.page(() => compareKeptInvoice(going, invoice, asked, keep));
      const notice = `The result of ${invoice.name} ${isNew ? 'is kept' : 'was kept before'}.`;
      return { to: '/billing/months#invoices', notice };
    },
  });
}

function toKeep(invoices: KeptFiles, view: View, { params, query }: Asked) {
  const invoice = findInvoice(invoices, view, params['invoice'] ?? '');
  const { asked } = readInvoiceQuestion(query, view);
  return asked ? { invoice, asked } : notFound('The address does not say how the invoice is compared.');
}

const nothingCompared = html`<p class="error">Nothing was compared.</p>`;

const addressOf = ({ id }: Pick<KeptFile, 'id'>): string => `/billing/reconcile/${id}`;

function findInvoice(invoices: KeptFiles, { session }: View, id: string): KeptFile {
  const invoice = invoices.find(session.owner, id);
  if (invoice) return invoice;
  return notFound('This invoice is not kept any more: a file is kept for an hour. Choose it again.');
}

async function answer(
  view: View,
  invoice: KeptFile,
  asked: AskedInvoice,
  page: number,
): Promise<Pick<PageContent, 'body' | 'cookie'>> {
  const { filter } = asked;
  const after = (page - 1) * differencesPerPage;
  const differences = { filter, after, limit: differencesPerPage };
  return compareKeptInvoice(view, invoice, { ...asked, differences }, async (found) => {
    const sheet = reconcileSheet(found, asked, view.now);
    const rows: DifferenceLine[] = [];
    for await (const batch of sheet.rows) rows.push(...batch);
    const lines = found.askedTotals.find(({ kind }) => kind === 'all')?.lines ?? 0;
    const { address } = view;
    const { columns, cookie, form } = chooseColumns(
      'invoice',
      inPageColumns(sheet.columns),
      ({ key }) => key === 'kind',
      view,
    );
    const keep = view.mayRun && view.session.accounts === null;
    const pathTo = (part: string, changes = {}): string =>
      changedPath(address, changes).replace('?', `/${part}?`);
    return {
      cookie,
      body: html`${findingsPart(found, address)}
${keep && html`<p><a class="button" href="${pathTo('keep')}">Keep the result with ${nameOfPeriod(asked.period)}</a></p>`}
${differencesPart({ columns, rows, filter, after, lines }, address)}
${form}${lines > 0 && downloadLinks((format) => pathTo('download', { format }))}`,
    };
  });
}

function refusal({ problems }: InputError) {
  return html`<div role="alert">${nothingCompared}${problemItems(inPageWords(problems))}</div>`;
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
  asked: AskedInvoice & { readonly differences?: AskedDifferences },
  use: (found: Reconciliation) => Promise<Result>,
): Promise<Result> {
  const { period, scope, reading, skipUnreadable, differences } = asked;
  const { accounts, subAccounts } = scope;
  const names = { account: accounts ?? [], SubAccount: subAccounts ?? [] };
  await requireKnownNames(context, names, session.accounts);
  const open = () => openInvoiceInThread(path, { ...reading, name }, left);
  const invoice = { name, open, maxLines, skipUnreadable };
  return reconcileInvoice(
    context,
    { invoice, period, scope: { ...scope, visibleAccounts: session.accounts }, asked: differences },
    use,
  );
}

/** Takes an invoice: its file is chosen, or dropped on the field. */
export function addUploadPage({ addPage, addPost }: Tools, invoices: KeptFiles): void {
  addPage({ path: '/billing/reconcile', scope: 'read' }, async (view, { query }) => ({
    ...head,
    body: uploadForm(view, query),
  }));
  addPost({ path: '/billing/reconcile', scope: 'read' }, async (view, _asked, reply) => {
    const sent = await receiveFile(reply.request, view, invoices);
    if (typeof sent.file !== 'string')
      return reply.redirect(`${addressOf(sent.file)}?${searchOf(sent.fields)}`, 303);
    return sendPage(reply, view, 422, { ...head, body: uploadForm(view, sent.fields, sent.file) });
  });
}

const head = { title: 'Check an invoice', within: { href: '/billing', text: 'Billing' } };

function uploadForm(view: View, fields: Fields, problem?: string): Html {
  const { question, problems } = readInvoiceQuestion(fields, view);
  return html`<p>Finds where an invoice and the ledger differ, line by line: what is billed and was not sent, what is billed twice or at another price, and what is missing.</p>
<form method="post" action="/billing/reconcile" enctype="multipart/form-data">
${csrfField(view)}
${invoiceFieldsets(question, problems)}
${fileField('invoice', 'The invoice', 'with one line a recipient', problem)}
<p class="buttons"><button>Compare</button></p>
</form>
<p class="hint">The file is kept in this process for an hour, for you only, and is not written to the ledger.</p>`;
}

/** The fields as an address has them, without the token of the form. */
function searchOf({ csrf: _, ...fields }: Fields): string {
  const asked = Object.entries(fields).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  return new URLSearchParams(asked).toString();
}
