import type { FastifyInstance, FastifyReply } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import { reportBillingLines } from '../../engine/billing/billing.ts';
import { createBillingReport } from '../../report/billing/billing-sheet.ts';
import { html } from '../../report/html/html.ts';
import { requireVisibleNames } from '../../server/api/billing-query.ts';
import type { CallLimits } from '../../server/api/call-limits.ts';
import { sendSheet } from '../../server/api/send-report.ts';
import { numberIn } from '../base/fields.ts';
import { addDownload, addPage } from '../base/pages.ts';
import { orInputError, problemText } from '../base/problems.ts';
import type { View } from '../base/view.ts';
import { filterLinks, monthLinks, namePeriod, questionForm } from './billing-form.ts';
import { type AskedQuestion, type BillingQuestion, readQuestion } from './billing-question.ts';
import { billingAnswer, costDimension, linesPerPage } from './billing-view.ts';
import { readBilling } from './read-billing.ts';

/**
 * @param limits pages and downloads that are read at once
 * @param book begins to book what is not booked, and returns at once
 */
export function addBillingPage(server: FastifyInstance, limits: CallLimits, book: () => void): void {
  addPage(server, { path: '/billing', scope: 'read' }, async (view, { query }) => {
    const { question, asked, problems } = readQuestion(query, view);
    const work =
      asked && limits.page(() => answer(view, question, asked, Math.max(1, numberIn(query, 'page'))));
    const answered = await orInputError(Promise.resolve(work));
    book();
    // A name that does not occur is a problem of the form.
    const isRefused = answered instanceof InputError;
    const content = isRefused ? undefined : answered;
    const shownProblems = isRefused ? { by: problemText(answered) ?? '' } : problems;
    return {
      cookie: content?.cookie,
      title: asked ? `Billing: ${namePeriod(question)}` : 'Billing',
      body: html`<p class="links"><a href="/billing/months">Closed months</a> <a href="/billing/reconcile">Check an invoice</a></p>
${monthLinks(question, view.now, asked?.query.timeZone ?? view.zone)}
${filterLinks(question)}
${questionForm(question, shownProblems)}
${content?.body}`,
    };
  });
  addDownload(server, { path: '/billing/download', scope: 'read' }, async (view, { query }, format) => {
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
