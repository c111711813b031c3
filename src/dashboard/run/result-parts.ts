import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { LiveRun, RunEvents } from '../../engine/live/live-runs.ts';
import type { PayerCost, RunCosts } from '../../ledger/billing/run-costs.ts';
import { createAmountFormat } from '../../platform/money.ts';
import {
  type Columns,
  cellColumn,
  pickColumns,
  textColumn,
  timeColumn,
  wordsColumn,
} from '../../report/column.ts';
import { badge, time } from '../../report/html/cells.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html, type Part } from '../../report/html/html.ts';
import { interfaceWords } from '../../report/lists/audit.ts';
import { failureGroupColumns, notAcceptedTitle } from '../../report/lists/failures.ts';
import { leftOutTitle, rejectionColumns } from '../../report/lists/rejected.ts';
import {
  deliveryResultColumns,
  estimatedColumn,
  payerColumn,
  priceColumn,
} from '../../report/lists/run-results.ts';
import { recipientsColumn } from '../../report/lists/usual.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { withCode } from '../parts/next-step.ts';
import { figures, section } from '../parts/parts.ts';
import { runPath } from '../paths.ts';

/** What the service did not accept or deliver, and which contacts were left out, grouped by its words. */
export function failuresPart(
  { failures, results, rejections, head }: LiveRun,
  viewer: Viewer,
): Html | undefined {
  const undelivered = results.filter(({ outcome }) => outcome === 'undelivered');
  if (failures.length === 0 && undelivered.length === 0 && rejections.length === 0) return undefined;
  const groupPage =
    (page: string) =>
    ({ group }: { readonly group: string }) =>
      ({ kind: 'page', path: runPath(head.run, page, { group }) }) as const;
  const failedColumns = pickColumns(
    failureGroupColumns,
    { key: 'reason', target: groupPage('failures') },
    'state',
    'requests',
    'recipients',
  );
  const undeliveredColumns = pickColumns(
    deliveryResultColumns,
    { key: 'result', target: groupPage('undelivered') },
    'recipients',
  );
  const body = html`${failures.length > 0 && listTable({ caption: `${notAcceptedTitle}, in the words of the service`, columns: failedColumns, rows: failures }, viewer)}
${undelivered.length > 0 && listTable({ caption: 'Undelivered, in the words of the delivery reports', columns: undeliveredColumns, rows: undelivered }, viewer)}
${
  rejections.length > 0 &&
  html`${listTable({ caption: leftOutTitle, columns: rejectionColumns, rows: rejections }, viewer)}
<p><a href="${runPath(head.run, 'rejected')}">All contacts that were left out, with file and line</a></p>`
}`;
  return section('failures', 'What did not arrive', body);
}

/** Milliseconds. A page says when costs were booked that are older: booking rests longer than it takes. */
const currentFor = 2_000;

/** What the run costs so far, and those who pay most. */
export function costsPart({ costs, at }: LiveRun, viewer: Viewer): Html | undefined {
  if (costs.total.recipients === 0) return undefined;
  const { asOf, total, currency, bySubAccount, byChargeCode, subAccounts, chargeCodes } = costs;
  const isOld = asOf !== undefined && at.getTime() - asOf.getTime() > currentFor;
  const amount = amountsOf(costs);
  const amounts = { price: amount, estimated: currency === null ? () => '–' : amount };
  const inCurrency = currency === null ? '' : ` ${currency}`;
  const title = html`Cost so far ${isOld && html`<small>as of ${time(asOf, viewer.zone)}</small>`}`;
  const body = html`${figures([
    {
      name: 'Estimated',
      value: `${amounts.estimated(total.estimated)}${inCurrency}`,
      note: estimateRemark(costs),
    },
    { name: 'In delivery reports', value: `${amount(total.price)}${inCurrency}` },
    { name: 'For accepted recipients', value: groupThousands(total.accepted) },
  ])}
<div class="side-by-side">
${payerTable('SubAccount', bySubAccount, subAccounts, { amounts, viewer })}
${payerTable('ChargeCode', byChargeCode, chargeCodes, { amounts, viewer })}
</div>`;
  return section('costs', title, body);
}

function estimateRemark({ currency, total }: RunCosts): string {
  if (currency === null) return 'The account has no rate card.';
  return total.unrated > 0
    ? `without ${groupThousands(total.unrated)} recipients that have no rate`
    : 'without tax';
}

type Amounts = Readonly<Record<'price' | 'estimated', (exact: string) => string>>;

function payerTable(
  name: string,
  rows: readonly PayerCost[],
  of: number,
  { amounts, viewer }: { readonly amounts: Amounts; readonly viewer: Viewer },
): Html {
  const title =
    of > rows.length ? `${name}: the ${rows.length} of ${groupThousands(of)} that pay most` : `By ${name}`;
  const columns: Columns<PayerCost> = [
    payerColumn(name),
    recipientsColumn,
    { ...estimatedColumn, shown: ({ estimated }) => amounts.estimated(estimated) },
    { ...priceColumn, shown: ({ price }) => amounts.price(price) },
  ];
  return listTable({ caption: title, columns, rows }, viewer);
}

function amountsOf({ total, bySubAccount, byChargeCode }: RunCosts): (exact: string) => string {
  const shown = [total, ...bySubAccount, ...byChargeCode];
  const format = createAmountFormat(shown.flatMap(({ price, estimated }) => [price, estimated]));
  return (exact) => groupThousands(format(exact));
}

type Event = { readonly at: Date; readonly what: Part; readonly who: string; readonly why: Part };

const columns: Columns<Event> = [
  timeColumn('at', 'At'),
  cellColumn('What', ({ what }) => what),
  textColumn('who', 'Who'),
  wordsColumn('why', 'Why', () => null, { cell: ({ why }) => why }),
];

/** What happened to the run, and who did what, newest first. */
export function eventsPart({ events }: LiveRun, viewer: Viewer): Html {
  // Of events at the same time, the later ones come first too.
  const all = [
    ...notificationEvents(events).toReversed(),
    ...stateEvents(events).toReversed(),
    ...auditEvents(events),
  ];
  const rows = all.toSorted((one, other) => other.at.getTime() - one.at.getTime());
  return section('events', 'What happened', listTable({ caption: 'Newest first', columns, rows }, viewer));
}

function stateEvents({ states }: RunEvents): Event[] {
  return states.map(({ state, reason, at }) => ({
    at,
    what: badge(state),
    who: '',
    why: withCode(formatReasonOrNull(reason) ?? ''),
  }));
}

function auditEvents({ audit }: RunEvents): Event[] {
  return audit.map(({ at, who, how, action, outcome, details }) => {
    const { reason } = details;
    const refused = outcome === 'refused' ? ' (refused)' : '';
    return {
      at,
      what: `${action}${refused}`,
      who: `${who}, ${interfaceWords[how]}`,
      why: typeof reason === 'string' ? reason : '',
    };
  });
}

function notificationEvents({ notifications }: RunEvents): Event[] {
  return notifications.map(({ createdAt, event, way, state, problem }) => ({
    at: createdAt,
    what: `notification of "${event}" by ${way}: ${state}`,
    who: '',
    why: problem ?? '',
  }));
}
