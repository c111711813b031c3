import { type LiveDeliveryReports, maxUnresolved } from '../../engine/live/live-delivery-reports.ts';
import { type UnresolvedState, unresolvedStates } from '../../ledger/delivery-reports/page.ts';
import type {
  AccountMissing,
  Arrivals,
  RunReportedUnsent,
} from '../../ledger/operations/delivery-reports.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { Viewer } from '../base/view.ts';
import { badge, counted, figures, number, table, time } from '../parts/parts.ts';
import { deliveryReportsPath, runPath } from '../paths.ts';

/** Everything of the page that changes. */
export function livePart(live: LiveDeliveryReports, viewer: Viewer): Html {
  return html`${statePart(live)}
${arrivalsPart(live, viewer)}
${unresolvedPart(live, viewer)}
${unsentPart(live)}
${missingPart(live)}`;
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

function arrivalsPart({ arrivals, inbox, last }: LiveDeliveryReports, { zone }: Viewer): Html {
  const rate = arrivals.reduce((sum, { reports, seconds }) => sum + reports / seconds, 0);
  return html`<section aria-labelledby="arrivals-title" id="arrivals">
<h2 id="arrivals-title">Arriving</h2>
${figures([
  { name: 'Rate', value: `${formatRate(rate)} a second`, note: 'over the last minute' },
  { name: 'Waiting to be applied', value: number(inbox.due), note: 'of all accounts' },
  { name: 'Lag', value: `${formatRate(inbox.lag)} s`, note: 'from the inbox to the recipient' },
  { name: 'To be matched again', value: number(inbox.later), note: 'for about three days' },
  { name: 'Last arrival', value: last === null ? 'none' : time(last, zone), note: last !== null && zone },
])}
${
  arrivals.length > 1 &&
  table<Arrivals>(
    `By account (${zone})`,
    [
      { title: 'Account', cell: ({ account }) => account },
      { title: 'A second', isNumber: true, cell: ({ reports, seconds }) => formatRate(reports / seconds) },
      { title: 'Last arrival', cell: (each) => time(each.last, zone) },
    ],
    arrivals,
  )
}
</section>`;
}

function formatRate(rate: number): string {
  return rate >= 100 ? number(Math.round(rate)) : rate.toFixed(1);
}

/** What an operator should know about each state. */
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

function unresolvedPart({ unresolved }: LiveDeliveryReports, { mayRun }: Viewer): Html {
  const replayable = unresolved.unmatched + unresolved.unreadable + unresolved.failed;
  return html`<section aria-labelledby="unresolved-title" id="unresolved">
<h2 id="unresolved-title">To look at</h2>
${table<UnresolvedState>(
  'Delivery reports that changed no recipient',
  [
    {
      title: 'State',
      cell: (state) =>
        html`<a href="${deliveryReportsPath('list', { state })}">${unresolvedWords[state].name}</a>`,
    },
    { title: 'Reports', isNumber: true, cell: (state) => upTo(unresolved[state]) },
    { title: 'What they are', cell: (state) => unresolvedWords[state].what },
  ],
  order,
)}
${
  mayRun &&
  replayable > 0 &&
  html`<p><a class="button" href="${deliveryReportsPath('replay')}">Replay unmatched, unreadable and failed ones</a></p>`
}
</section>`;
}

function unsentPart({ unsent }: LiveDeliveryReports): Html {
  const recipients = unsent.reduce((sum, each) => sum + each.recipients, 0);
  return html`<section aria-labelledby="unsent-title" id="unsent">
<h2 id="unsent-title">Of requests that were never sent</h2>
${
  unsent.length === 0
    ? html`<p>None in the last 30 days.</p>`
    : html`<p>${badge('warning')} The service charges for them. Another copy of the ledger may have sent them. They count as delivered in no share.</p>
${table<RunReportedUnsent>(
  `${counted(recipients, 'recipient')} of the last 30 days`,
  [
    { title: 'Run', cell: ({ run }) => html`<a href="${runPath(run)}">${run}</a>` },
    { title: 'Campaign', cell: ({ campaign }) => campaign },
    { title: 'Account', cell: ({ account }) => account },
    { title: 'Recipients', isNumber: true, cell: (each) => number(each.recipients) },
  ],
  unsent,
)}`
}
</section>`;
}

function upTo(count: number): string {
  return count > maxUnresolved ? `more than ${number(maxUnresolved)}` : number(count);
}

const ageTitles = ['1 to 7 days', '6 to 24 hours', '1 to 6 hours', 'Less than an hour'];

function missingPart({ missing }: LiveDeliveryReports): Html {
  const sum = ({ missing: counts }: AccountMissing): number => counts.reduce((all, one) => all + one, 0);
  const all = missing.reduce((total, account) => total + sum(account), 0);
  return html`<section aria-labelledby="missing-title" id="missing">
<h2 id="missing-title">Missing</h2>
${
  all === 0
    ? html`<p>Every recipient of the last seven days that the service accepted has a final delivery report.</p>`
    : table<AccountMissing>(
        `${counted(all, 'recipient')} of the last seven days without a final delivery report, by the time since they were sent`,
        [
          {
            title: 'Account',
            cell: ({ account }) =>
              html`<a href="${deliveryReportsPath('missing', { account })}">${account}</a>`,
          },
          ...ageTitles.map((title, index) => ({
            title,
            isNumber: true,
            cell: (row: AccountMissing) => number(row.missing[index] ?? 0),
          })),
          { title: 'All', isNumber: true, cell: (row: AccountMissing) => number(sum(row)) },
        ],
        missing,
      )
}
<p class="note">As booked: some seconds old. <a href="${deliveryReportsPath('missing')}">Runs with missing delivery reports</a></p>
</section>`;
}
