import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import { reportBillingLines } from '../../engine/billing/billing.ts';
import { findRun } from '../../ledger/runs/find.ts';
import { createBillingReport } from '../../report/billing-report.ts';
import { type Html, html } from '../../report/html/html.ts';
import { requireVisibleNames } from '../../server/api/billing-query.ts';
import type { CallLimits } from '../../server/api/call-limits.ts';
import { sendSheet } from '../../server/api/send-report.ts';
import { type Fields, textIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import { askedOf, type View, viewOf } from '../base/view.ts';
import { isFormat } from '../parts/downloads.ts';
import { filterLinks, monthLinks, namePeriod, questionForm } from './billing-form.ts';
import { type AskedQuestion, readQuestion } from './billing-question.ts';
import { billingAnswer, costDimension, linesPerPage } from './billing-view.ts';
import { readBilling } from './read-billing.ts';

/**
 * @param limits pages and downloads that are read at once
 * @param book begins to book what is not booked, and returns at once
 */
export function addBillingPage(server: FastifyInstance, limits: CallLimits, book: () => void): void {
  addPage(server, { path: '/billing', scope: 'read' }, async (view, { query }) => {
    const { question, asked, problems } = ask(view, query);
    const answered = asked
      ? await limits.page(() => answer(view, question, asked, pageOf(query)))
      : { problems };
    book();
    return {
      title: asked ? `Billing: ${namePeriod(question)}` : 'Billing',
      body: html`<p class="links"><a href="/billing/months">Closed months</a> <a href="/billing/reconcile">Check an invoice</a></p>
${monthLinks(question, view.now, asked?.query.timeZone ?? view.zone)}
${filterLinks(question)}
${questionForm(question, answered.problems ?? {})}
${answered.body}`,
    };
  });
  server.get('/billing/download', async (request, reply) => {
    const view = viewOf(request);
    const { query: fields } = askedOf(request);
    const { asked } = ask(view, fields);
    const format = textIn(fields, 'format');
    if (!asked || !isFormat(format)) return reply.redirect('/billing');
    await requireNames(view, asked);
    await limits.report(reply, view.session.name, () =>
      reportBillingLines(view.context, asked.query, async (streamed) => {
        const report = await createBillingReport(asked.query, streamed, view.now);
        await sendSheet(reply, { name: 'billing', format }, report);
      }),
    );
    return reply;
  });
}

function ask({ zone, now, session }: View, fields: Fields): AskedQuestion {
  return readQuestion(fields, { zone, now, accounts: session.accounts });
}

type Asked = NonNullable<AskedQuestion['asked']>;

/** A name that does not occur is a problem of the form. */
async function answer(
  view: View,
  question: AskedQuestion['question'],
  asked: Asked,
  page: number,
): Promise<{ readonly body?: Html; readonly problems?: Readonly<Record<string, string>> }> {
  try {
    await requireNames(view, asked);
    const first = (page - 1) * linesPerPage;
    const costsBy = Math.max(0, question.by.indexOf(costDimension(question) ?? ''));
    const part = await readBilling(view.context, asked.query, { first, limit: linesPerPage, costsBy });
    const lastPage = Math.ceil(part.count / linesPerPage);
    // Such as an address that was kept while there were more lines.
    if (part.count > 0 && page > lastPage) return await answer(view, question, asked, lastPage);
    return { body: billingAnswer(question, asked.query, part, view.now) };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { problems: { by: error.problems.map(({ where, what }) => `${where}: ${what}`).join('\n') } };
  }
}

function requireNames({ context, session }: View, { query, parameters }: Asked): Promise<void> {
  return requireVisibleNames(context, parameters, query, {
    accounts: session.accounts,
    isVisible: async (run) => {
      const found = await findRun(context.ledger.knex, run);
      return found !== undefined && (session.accounts === null || session.accounts.includes(found.account));
    },
  });
}

function pageOf(fields: Fields): number {
  const page = Number(textIn(fields, 'page') || '1');
  return Number.isSafeInteger(page) && page > 0 ? page : 1;
}
