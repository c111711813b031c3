import type { FastifyReply } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import { runKinds } from '../../domain/runs.ts';
import { bookBilling, readBilledRequests, reportBillingLines } from '../../engine/billing/billing.ts';
import type { BilledRequest } from '../../ledger/billing/list-requests.ts';
import { createBillingReport } from '../../report/billing/billing-sheet.ts';
import { type Columns, integerColumn, stateColumn, timeColumn } from '../../report/column.ts';
import { html } from '../../report/html/html.ts';
import { priceColumn } from '../../report/lists/run-results.ts';
import { messageIdColumn, namedPayerColumns, recipientsColumn, runColumn } from '../../report/lists/usual.ts';
import { requireVisibleNames } from '../../server/api/billing-query.ts';
import { sendSheet } from '../../server/api/send-report.ts';
import { numberIn, wordIn } from '../base/fields.ts';
import { orInputError, problemText } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { notFound, type View } from '../base/view.ts';
import { chooseColumns, listTable, pager } from '../parts/list.ts';
import { agePart } from '../parts/parts.ts';
import { changedPath } from '../paths.ts';
import {
  type AskedQuestion,
  addressOf,
  type BillingQuestion,
  filterLinks,
  monthLinks,
  namePeriod,
  questionForm,
  readQuestion,
} from './billing-question.ts';
import { billingAnswer, costDimension, linesPerPage, readBilling } from './billing-view.ts';
import { addInvoicePages } from './invoice-page.ts';
import { addMonthsPages } from './months-page.ts';

export function addBillingPages(tools: Tools): void {
  addBillingPage(tools, bookInBackground(tools));
  addRequestsPage(tools);
  addMonthsPages(tools);
  addInvoicePages(tools);
}

/**
 * A page adds up what is not booked. Without a receiver, which books, that would grow while runs are sent: so the page
 * books for the next one.
 *
 * @returns begins to book, unless that has begun, and returns at once
 */
function bookInBackground({ server, context }: Tools): () => void {
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

/** @param book begins to book what is not booked, and returns at once */
function addBillingPage({ addPage, addDownload, limits }: Tools, book: () => void): void {
  addPage({ path: '/billing', scope: 'read' }, async (view, { query }) => {
    const { question, asked, problems } = readQuestion(query, view);
    const work =
      asked && limits.page(() => answer(view, question, asked, Math.max(1, numberIn(query, 'page'))));
    const answered = await orInputError(Promise.resolve(work));
    book();
    const content = answered instanceof InputError ? undefined : answered;
    // A name that does not occur is a problem of the form.
    const refused = problemText(answered);
    return {
      cookie: content?.cookie,
      title: asked ? `Billing: ${namePeriod(question)}` : 'Billing',
      body: html`<p class="links"><a href="/billing/months">Closed months</a> <a href="/billing/reconcile">Check an invoice</a></p>
${monthLinks(question, view.now, asked?.query.timeZone ?? view.zone)}
${filterLinks(question)}
${questionForm(question, refused === undefined ? problems : { by: refused })}
${content?.body}`,
    };
  });
  addDownload({ path: '/billing/download', scope: 'read' }, async (view, { query }, format) => {
    const { asked } = readQuestion(query, view);
    if (!asked) return undefined;
    await requireNames(view, asked);
    const send = (reply: FastifyReply) =>
      reportBillingLines(view.context, asked.query, async (streamed) => {
        const report = createBillingReport(asked.query, streamed);
        await sendSheet(reply, { name: 'billing', format }, report);
      });
    return { limit: limits.report, send };
  });
}

type Asked = NonNullable<AskedQuestion['asked']>;

async function answer(
  view: View,
  question: BillingQuestion,
  asked: Asked,
  page: number,
): Promise<ReturnType<typeof billingAnswer>> {
  await requireNames(view, asked);
  const first = (page - 1) * linesPerPage;
  const charted = asked.query.by[Math.max(0, question.by.indexOf(costDimension(question) ?? ''))];
  const part = await readBilling(view.context, asked.query, {
    first,
    limit: linesPerPage,
    charted: charted ? [charted] : [],
  });
  const lastPage = Math.ceil(part.count / linesPerPage);
  // Such as an address that was kept while there were more lines.
  if (part.count > 0 && page > lastPage) return answer(view, question, asked, lastPage);
  return billingAnswer(question, asked.query, part, view);
}

function requireNames({ context, session }: View, { query, parameters }: Asked): Promise<void> {
  return requireVisibleNames({ context, token: session }, parameters, query);
}

const requestsPerPage = 50;

/** The requests behind a line of a billing report, of all runs. */
function addRequestsPage({ addPage, limits }: Tools): void {
  addPage({ path: '/billing/requests', scope: 'read' }, async (view, { query }) => {
    const { question, asked } = readQuestion(query, view);
    if (!asked) return notFound('The address does not say which requests. Billing leads to them.');
    await requireVisibleNames({ context: view.context, token: view.session }, asked.parameters, asked.query);
    const kind = wordIn(query, 'kind', runKinds);
    const runNumber = numberIn(query, 'run-number');
    const after = runNumber === 0 ? undefined : { runNumber, request: numberIn(query, 'after') };
    const page = { after, limit: requestsPerPage };
    const found = await limits.page(() => readBilledRequests(view.context, { ...asked.query, kind }, page));
    const last = found.requests.at(-1);
    const next = (request: BilledRequest) => ({
      href: changedPath(view.address, {
        'run-number': String(request.runNumber),
        after: String(request.request),
      }),
      text: 'Next requests',
    });
    const choice = chooseColumns('requests', columns, ({ key }) => key === 'run', view);
    return {
      title: `Requests: ${namePeriod(question)}`,
      within: { href: addressOf('/billing', question), text: 'Billing' },
      cookie: choice.cookie,
      body: html`<p>Requests${kind === 'test' && ' of tests'} that were sent in this period, in ${asked.query.timeZone}: the newest run first.</p>
${filterLinks(question, '/billing/requests')}
${agePart(found.asOf)}
${listTable({ caption: 'Requests', columns: choice.columns, rows: found.requests }, view)}
${pager({ next: found.hasMore && last ? next(last) : undefined })}
${choice.form}`,
    };
  });
}

const columns: Columns<BilledRequest> = [
  runColumn,
  integerColumn('request', 'Request'),
  messageIdColumn,
  stateColumn('state', 'State'),
  timeColumn('sentAt', 'Sent'),
  integerColumn('attempts', 'Attempts', { minor: 2 }),
  recipientsColumn,
  integerColumn('delivered', 'Delivered'),
  integerColumn('undelivered', 'Undelivered', { minor: 1 }),
  priceColumn,
  { ...namedPayerColumns.subAccount, minor: 3 },
  { ...namedPayerColumns.department, minor: 3 },
  { ...namedPayerColumns.chargeCode, minor: 3 },
];
