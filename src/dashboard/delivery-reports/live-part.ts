import { type LiveDeliveryReports, maxUnresolved } from '../../engine/live/live-delivery-reports.ts';
import { type UnresolvedState, unresolvedStates } from '../../ledger/delivery-reports/list.ts';
import type {
  AccountMissing,
  Arrivals,
  RunReportedUnsent,
} from '../../ledger/operations/delivery-reports.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, integerColumn, textColumn, timeColumn, wordsColumn } from '../../report/column.ts';
import { badge, time } from '../../report/html/cells.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { accountColumn, campaignColumn, runColumn } from '../../report/lists/usual.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { figures, section } from '../parts/parts.ts';
import { deliveryReportsPath } from '../paths.ts';

export function livePart(live: LiveDeliveryReports, viewer: Viewer): Html {
  return html`${statePart(live)}
${arrivalsPart(live, viewer)}
${unresolvedPart(live, viewer)}
${unsentPart(live, viewer)}
${missingPart(live, viewer)}`;
}

/** Announced when it changes, so it has no figures that change all the time. */
function statePart({ inbox, last }: LiveDeliveryReports): Html {
  const what =
    inbox.lag >= lateAfter
      ? html`${badge('warning')} Delivery reports wait to be applied. Is <code>volley serve</code> running?`
      : last === null
        ? html`No delivery report has arrived yet. Give the service the address that <code>volley serve</code> prints.`
        : 'What arrives is applied at once.';
  return html`<p class="note" id="state" role="status">${what}</p>`;
}

/** Seconds. The applier looks each ten seconds, also when no call wakes it. */
const lateAfter = 15;

function arrivalsPart({ arrivals, inbox, last }: LiveDeliveryReports, viewer: Viewer): Html {
  const { zone } = viewer;
  const perSecond = arrivals.reduce((sum, { reports, seconds }) => sum + reports / seconds, 0);
  const body = html`${figures([
    { name: 'Rate', value: `${formatSpeed(perSecond)} a second`, note: 'over the last minute' },
    { name: 'Waiting to be applied', value: groupThousands(inbox.due), note: 'of all accounts' },
    { name: 'Lag', value: `${formatSpeed(inbox.lag)} s`, note: 'from the inbox to the recipient' },
    { name: 'To be matched again', value: groupThousands(inbox.later), note: 'for about three days' },
    { name: 'Last arrival', value: last === null ? 'none' : time(last, zone), note: last !== null && zone },
  ])}
${
  arrivals.length > 1 && listTable({ caption: 'By account', columns: arrivalColumns, rows: arrivals }, viewer)
}`;
  return section('arrivals', 'Arriving', body);
}

const arrivalColumns: Columns<Arrivals> = [
  accountColumn,
  integerColumn('rate', 'A second', ({ reports, seconds }) => formatSpeed(reports / seconds)),
  timeColumn('last', 'Last arrival'),
];

function formatSpeed(perSecond: number): string {
  return perSecond >= 100 ? groupThousands(Math.round(perSecond)) : perSecond.toFixed(1);
}

export const unresolvedWords: Readonly<Record<UnresolvedState, { name: string; what: string }>> = {
  unmatched: {
    name: 'Unmatched',
    what: 'No request of the account is known for them. They are matched again by themselves.',
  },
  conflicting: {
    name: 'Conflicting',
    what: 'They say something else than the first final delivery report of their recipient, which counts.',
  },
  unreadable: { name: 'Unreadable', what: 'They were kept, and could not be read. Each says why.' },
  failed: { name: 'Failed', what: 'They could not be applied. Each says why.' },
  inbound: { name: 'Replies', what: 'Texts of recipients. One that opts out suppresses its sender.' },
};

const order: readonly UnresolvedState[] = unresolvedStates.toSorted(
  (one, other) => Object.keys(unresolvedWords).indexOf(one) - Object.keys(unresolvedWords).indexOf(other),
);

function unresolvedPart({ unresolved }: LiveDeliveryReports, viewer: Viewer): Html {
  const replayable = unresolved.unmatched + unresolved.unreadable + unresolved.failed;
  const body = html`${listTable(
    {
      caption: 'Delivery reports that changed no recipient',
      columns: [
        textColumn<UnresolvedState>('state', 'State', (state) => unresolvedWords[state].name, {
          target: (state) => ({ kind: 'page', path: deliveryReportsPath('list', { state }) }),
        }),
        integerColumn<UnresolvedState>('reports', 'Reports', (state) => upTo(unresolved[state])),
        wordsColumn<UnresolvedState>('what', 'What they are', (state) => unresolvedWords[state].what),
      ],
      rows: order,
    },
    viewer,
  )}
${
  viewer.mayRun &&
  replayable > 0 &&
  html`<p><a class="button" href="${deliveryReportsPath('replay')}">Replay unmatched, unreadable and failed ones</a></p>`
}`;
  return section('unresolved', 'To look at', body);
}

function unsentPart({ unsent }: LiveDeliveryReports, viewer: Viewer): Html {
  const recipients = unsent.reduce((sum, each) => sum + each.recipients, 0);
  const caption = `${count(recipients, 'recipient')} of the last 30 days`;
  const body =
    unsent.length === 0
      ? html`<p>None in the last 30 days.</p>`
      : html`<p>${badge('warning')} The service charges for them. Another copy of the ledger may have sent them. They count as delivered in no share.</p>
${listTable({ caption, columns: unsentColumns, rows: unsent }, viewer)}`;
  return section('unsent', 'Of requests that were never sent', body);
}

const unsentColumns: Columns<RunReportedUnsent> = [
  runColumn,
  campaignColumn,
  accountColumn,
  integerColumn('recipients', 'Recipients'),
];

function upTo(count: number): string {
  return count > maxUnresolved ? `more than ${groupThousands(maxUnresolved)}` : groupThousands(count);
}

const sumOf = ({ missing }: AccountMissing): number => missing.reduce((all, one) => all + one, 0);

const missingColumns: Columns<AccountMissing> = [
  {
    ...accountColumn,
    target: ({ account }) => ({ kind: 'page', path: deliveryReportsPath('missing', { account }) }),
  },
  ...['1 to 7 days', '6 to 24 hours', '1 to 6 hours', 'Less than an hour'].map((title, index) =>
    integerColumn<AccountMissing>(title, title, ({ missing }) => missing[index] ?? 0),
  ),
  integerColumn('all', 'All', sumOf),
];

function missingPart({ missing }: LiveDeliveryReports, viewer: Viewer): Html {
  const all = missing.reduce((total, account) => total + sumOf(account), 0);
  const caption = `${count(all, 'recipient')} of the last seven days without a final delivery report, by the time since they were sent`;
  const body = html`${
    all === 0
      ? html`<p>Every recipient of the last seven days that the service accepted has a final delivery report.</p>`
      : listTable({ caption, columns: missingColumns, rows: missing }, viewer)
  }
<p class="note">As booked: some seconds old. <a href="${deliveryReportsPath('missing')}">Runs with missing delivery reports</a></p>`;
  return section('missing', 'Missing', body);
}
