import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { LiveRun, RunEvents } from '../../engine/live/live-runs.ts';
import type { PayerCost, PayerCosts, RunCosts } from '../../ledger/billing/run-costs.ts';
import { createAmountFormat } from '../../platform/money.ts';
import {
  type Columns,
  cellColumn,
  integerColumn,
  stateColumn,
  textColumn,
  timeColumn,
  wordsColumn,
} from '../../report/column.ts';
import { badge, time } from '../../report/html/cells.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html, type Part } from '../../report/html/html.ts';
import { interfaceWords } from '../../report/lists/audit.ts';
import { decisionColumns } from '../../report/lists/decisions.ts';
import { estimatedColumn, payerColumn, priceColumn } from '../../report/lists/run-results.ts';
import { recipientsColumn } from '../../report/lists/usual.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { withCode } from '../parts/next-step.ts';
import { folded, section } from '../parts/parts.ts';
import { type Cause, listCauses } from './asked-contacts.ts';
import { peopleLink } from './outcome-part.ts';

/** Why what did not arrive did not: in the words of the service, of delivery reports and of the plan. */
export function failuresPart({ head, ...live }: LiveRun, viewer: Viewer): Html | undefined {
  const causes = listCauses(live).filter(({ state }) => state !== 'delivered');
  return causes.length === 0
    ? undefined
    : section('failures', 'What did not arrive', causeTable(head.run, causes, viewer));
}

/** Causes, the largest first, each with a link to its people. */
export function causeTable(run: string, causes: readonly Cause[], viewer: Viewer): Html | undefined {
  const columns: Columns<Cause> = [
    wordsColumn('words', 'Why', ({ words }) => words),
    stateColumn('state', 'State', ({ state }) => state),
    integerColumn('contacts', 'Contacts', ({ contacts }) => contacts, {
      cell: (cause) => (cause.cause === '' ? groupThousands(cause.contacts) : peopleLink(run, cause)),
    }),
  ];
  const rowId = ({ state, cause }: Cause): string => `${state}-${cause}`;
  return listTable(
    { caption: 'Why, the most frequent first', columns, rows: causes, id: 'causes', rowId },
    viewer,
  );
}

/** Milliseconds. A page says when costs were booked that are older: booking rests longer than it takes. */
const currentFor = 2_000;

/** Those who pay most of what the run costs so far. */
export function costsPart({ costs, at }: LiveRun, viewer: Viewer): Html | undefined {
  if (costs.total.recipients === 0) return undefined;
  const { asOf, currency, bySubAccount, byChargeCode } = costs;
  const isOld = asOf !== undefined && at.getTime() - asOf.getTime() > currentFor;
  const amount = amountsOf(costs);
  const amounts = { price: amount, estimated: currency === null ? () => '–' : amount };
  const title = html`Cost by payer ${isOld && html`<small>as of ${time(asOf, viewer.zone)}</small>`}`;
  const body = html`<div class="side-by-side">
${payerTable('SubAccount', bySubAccount, { amounts, viewer })}
${payerTable('ChargeCode', byChargeCode, { amounts, viewer })}
</div>`;
  return folded('costs', title, body);
}

type Amounts = Readonly<Record<'price' | 'estimated', (exact: string) => string>>;

function payerTable(
  name: string,
  { lines: rows, others }: PayerCosts,
  { amounts, viewer }: { readonly amounts: Amounts; readonly viewer: Viewer },
): Html {
  const title = others
    ? `${name}: the ${rows.length} of ${groupThousands(rows.length + others.count)} that pay most`
    : `By ${name}`;
  const columns: Columns<PayerCost> = [
    payerColumn(name),
    recipientsColumn,
    { ...estimatedColumn, shown: ({ estimated }) => amounts.estimated(estimated) },
    { ...priceColumn, shown: ({ price }) => amounts.price(price) },
  ];
  return listTable({ caption: title, columns, rows }, viewer);
}

function amountsOf({ bySubAccount, byChargeCode }: RunCosts): (exact: string) => string {
  const shown = [...bySubAccount.lines, ...byChargeCode.lines];
  const format = createAmountFormat(shown.flatMap(({ price, estimated }) => [price, estimated]));
  return (exact) => groupThousands(format(exact));
}

/** What was decided about a run that is watched; undefined if nothing was. */
export function decisionsPart({ decisions }: LiveRun, viewer: Viewer): Html | undefined {
  if (decisions.length === 0) return undefined;
  const list = { caption: 'Oldest first', columns: decisionColumns, rows: decisions };
  return section('decisions', 'Decisions', listTable(list, viewer));
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
  return folded('events', 'What happened', listTable({ caption: 'Newest first', columns, rows }, viewer));
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
