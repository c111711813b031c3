import type { FastifyInstance } from 'fastify';
import { runKinds } from '../../domain/runs.ts';
import { readBilledRequests } from '../../engine/billing/billing.ts';
import type { BilledRequest } from '../../ledger/billing/list-requests.ts';
import { type Columns, integerColumn, stateColumn, timeColumn } from '../../report/column.ts';
import { html } from '../../report/html/html.ts';
import { priceColumn } from '../../report/lists/run-results.ts';
import { messageIdColumn, namedPayerColumns, recipientsColumn, runColumn } from '../../report/lists/usual.ts';
import { requireVisibleNames } from '../../server/api/billing-query.ts';
import type { CallLimit } from '../../server/api/call-limits.ts';
import { numberIn, wordIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import { notFound } from '../base/view.ts';
import { chooseColumns } from '../parts/column-choice.ts';
import { listTable, pager } from '../parts/list.ts';
import { agePart } from '../parts/parts.ts';
import { changedPath } from '../paths.ts';
import { filterLinks, namePeriod } from './billing-form.ts';
import { addressOf, readQuestion } from './billing-question.ts';

const requestsPerPage = 50;

/**
 * The requests behind a line of a billing report, of all runs.
 *
 * @param limit pages that are read at once
 */
export function addRequestsPage(server: FastifyInstance, limit: CallLimit): void {
  addPage(server, { path: '/billing/requests', scope: 'read' }, async (view, { query }) => {
    const { question, asked } = readQuestion(query, view);
    if (!asked) return notFound('The address does not say which requests. Billing leads to them.');
    await requireVisibleNames({ context: view.context, token: view.session }, asked.parameters, asked.query);
    const kind = wordIn(query, 'kind', runKinds);
    const runNumber = numberIn(query, 'run-number');
    const after = runNumber === 0 ? undefined : { runNumber, request: numberIn(query, 'after') };
    const page = { after, limit: requestsPerPage };
    const found = await limit(() => readBilledRequests(view.context, { ...asked.query, kind }, page));
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
