import type { FastifyInstance } from 'fastify';
import { readBilledRequests } from '../../engine/billing/billed-requests.ts';
import type { BilledRequest, Payer } from '../../ledger/billing/list-requests.ts';
import { formatPayer, parsePayer } from '../../report/billing-words.ts';
import type { SheetColumn } from '../../report/formats/sheet.ts';
import { type Html, html } from '../../report/html/html.ts';
import { sheetTable } from '../../report/html/table.ts';
import { formatLocal } from '../../report/time.ts';
import type { CallLimit } from '../../server/api/call-limits.ts';
import { type Fields, textIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import { requireVisibleRun } from '../base/view.ts';
import { filterNames } from './billing-question.ts';

const requestsPerPage = 50;
const payerDimensions = ['SubAccount', 'Department', 'ChargeCode'] as const;

/**
 * The requests behind a line of a billing report.
 *
 * @param limit pages that are read at once
 */
export function addRequestsPage(server: FastifyInstance, limit: CallLimit): void {
  addPage(server, { path: '/billing/runs/:run/requests', scope: 'read' }, async (view, { params, query }) => {
    const { run, campaign } = await requireVisibleRun(view, params['run'] ?? '');
    const payer = payerOf(query);
    const after = afterOf(query);
    const found = await limit(() =>
      readBilledRequests(view.context, run, payer, { after, limit: requestsPerPage }),
    );
    return {
      title: `Requests of run ${run}`,
      within: { href: '/billing', text: 'Billing' },
      body: html`<p>Campaign <bdi>${campaign}</bdi>. Requests with an attempt${describePayer(payer)}.
<a href="/runs/${encodeURIComponent(run)}">The run</a></p>
${requestTable(found.requests, view.zone)}
${nextLink(run, query, found)}`,
    };
  });
}

function payerOf(fields: Fields): Payer {
  const written = payerDimensions.map((dimension) => [dimension, fields[filterNames[dimension]]] as const);
  return Object.fromEntries(
    written.flatMap(([dimension, value]) =>
      typeof value === 'string' ? [[dimension, parsePayer(value)]] : [],
    ),
  );
}

function describePayer(payer: Payer): string {
  const parts = payerDimensions.flatMap((dimension) => {
    const name = payer[dimension];
    return name === undefined ? [] : [`${dimension} ${formatPayer(name)}`];
  });
  return parts.length === 0 ? '' : ` of ${parts.join(', ')}`;
}

function afterOf(fields: Fields): number {
  const after = Number(textIn(fields, 'after') || '0');
  return Number.isSafeInteger(after) && after > 0 && after < 2 ** 31 ? after : 0;
}

function requestTable(requests: readonly BilledRequest[], zone: string): Html {
  const column = (
    title: string,
    kind: SheetColumn<BilledRequest>['kind'],
    value: SheetColumn<BilledRequest>['value'],
  ): SheetColumn<BilledRequest> => ({ key: title, title, kind, value });
  const columns = [
    column('Request', 'integer', ({ request }) => request),
    column('MessageID', 'text', ({ messageId }) => messageId),
    column('State', 'text', ({ state }) => state),
    column(`Sent (${zone})`, 'text', ({ sentAt }) => formatLocal(sentAt, zone)),
    column('Attempts', 'integer', ({ attempts }) => attempts),
    column('Recipients', 'integer', ({ recipients }) => recipients),
    column('Delivered', 'integer', ({ delivered }) => delivered),
    column('Undelivered', 'integer', ({ undelivered }) => undelivered),
    column('Price', 'decimal', ({ price }) => price),
    ...payerColumns.map(([title, key]) => column(title, 'text', (request) => formatPayer(request[key]))),
  ];
  return sheetTable({ columns, lines: requests, totals: [] }, 'Requests', ({ messageId }, { key }) =>
    key === 'MessageID' ? `/recipients?q=${encodeURIComponent(messageId)}` : undefined,
  );
}

const payerColumns = [
  ['SubAccount', 'subAccount'],
  ['Department', 'department'],
  ['ChargeCode', 'chargeCode'],
] as const;

function nextLink(
  run: string,
  fields: Fields,
  { requests, hasMore }: { readonly requests: readonly BilledRequest[]; readonly hasMore: boolean },
): Html | undefined {
  const last = requests.at(-1);
  if (!hasMore || last === undefined) return undefined;
  const search = new URLSearchParams({ after: String(last.request) });
  for (const dimension of payerDimensions) {
    const value = fields[filterNames[dimension]];
    if (typeof value === 'string') search.set(filterNames[dimension], value);
  }
  const address = `/billing/runs/${encodeURIComponent(run)}/requests?${search}`;
  return html`<nav class="pager" aria-label="Pages"><a href="${address}">Next requests</a></nav>`;
}
