import type { FastifyInstance } from 'fastify';
import { readBilledRequests } from '../../engine/billing/billing.ts';
import type { BilledRequest, Payer } from '../../ledger/billing/list-requests.ts';
import { filterNameOf, formatPayer, parsePayer } from '../../report/billing/billing-words.ts';
import { type Columns, integerColumn, stateColumn, timeColumn } from '../../report/column.ts';
import { html } from '../../report/html/html.ts';
import { priceColumn } from '../../report/lists/run-results.ts';
import { messageIdColumn, namedPayerColumns, recipientsColumn } from '../../report/lists/usual.ts';
import type { CallLimit } from '../../server/api/call-limits.ts';
import { type Fields, numberIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import { requireVisibleRun } from '../base/view.ts';
import { listTable, pager } from '../parts/list.ts';
import { agePart } from '../parts/parts.ts';
import { billedRequestsPath, runPath } from '../paths.ts';

const requestsPerPage = 50;
const payerDimensions = ['SubAccount', 'Department', 'ChargeCode'] as const;

/**
 * The requests behind a line of a billing report.
 *
 * @param limit pages that are read at once
 */
export function addRequestsPage(server: FastifyInstance, limit: CallLimit): void {
  addPage(server, { path: '/billing/runs/:run/requests', scope: 'read' }, async (view, asked) => {
    const { run, campaign } = await requireVisibleRun(view, asked);
    const { query } = asked;
    const payer = payerOf(query);
    const after = numberIn(query, 'after');
    const found = await limit(() =>
      readBilledRequests(view.context, run, payer, { after, limit: requestsPerPage }),
    );
    const last = found.requests.at(-1);
    const next = ({ request }: BilledRequest) => ({
      href: billedRequestsPath(run, { ...namesOf(query), after: String(request) }),
      text: 'Next requests',
    });
    return {
      title: `Requests of run ${run}`,
      within: { href: '/billing', text: 'Billing' },
      body: html`<p>Campaign <bdi>${campaign}</bdi>. Requests with an attempt${describePayer(payer)}.
<a href="${runPath(run)}">The run</a></p>
${agePart(found.asOf)}
${listTable({ caption: 'Requests', columns, rows: found.requests }, view)}
${pager({ next: found.hasMore && last ? next(last) : undefined })}`,
    };
  });
}

/** The names of payers, as the address has them. */
function namesOf(fields: Fields): Readonly<Record<string, string>> {
  const names = payerDimensions.flatMap((dimension) => {
    const written = fields[filterNameOf(dimension)];
    return typeof written === 'string' ? [[filterNameOf(dimension), written] as const] : [];
  });
  return Object.fromEntries(names);
}

function payerOf(fields: Fields): Payer {
  const names = namesOf(fields);
  return Object.fromEntries(
    payerDimensions.flatMap((dimension) => {
      const written = names[filterNameOf(dimension)];
      return written === undefined ? [] : [[dimension, parsePayer(written)]];
    }),
  );
}

function describePayer(payer: Payer): string {
  const parts = payerDimensions.flatMap((dimension) => {
    const name = payer[dimension];
    return name === undefined ? [] : [`${dimension} ${formatPayer(name)}`];
  });
  return parts.length === 0 ? '' : ` of ${parts.join(', ')}`;
}

const columns: Columns<BilledRequest> = [
  integerColumn('request', 'Request'),
  messageIdColumn,
  stateColumn('state', 'State'),
  timeColumn('sentAt', 'Sent'),
  integerColumn('attempts', 'Attempts'),
  recipientsColumn,
  integerColumn('delivered', 'Delivered'),
  integerColumn('undelivered', 'Undelivered'),
  priceColumn,
  namedPayerColumns.subAccount,
  namedPayerColumns.department,
  namedPayerColumns.chargeCode,
];
