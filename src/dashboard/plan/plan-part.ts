import { costliestLines, type KnownCost } from '../../campaign/cost.ts';
import type { PlannedMessage } from '../../engine/plan/planned-messages.ts';
import type { PlannedRunFacts } from '../../engine/plan/planned-run.ts';
import type { PlannedWindow } from '../../ledger/planning/planned-totals.ts';
import type { RejectionGroup } from '../../ledger/runs/details.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import { formatReason } from '../../platform/reason-text.ts';
import { formatPayer } from '../../report/billing-words.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { formatMessage } from '../../report/html/preview-message.ts';
import type { Viewer } from '../base/view.ts';
import { badge, counted, type Figure, figures, number, table, time } from '../parts/parts.ts';
import { runPath } from '../paths.ts';

type ShownPlan = {
  readonly run: ListedRun;
  readonly facts: PlannedRunFacts;
  readonly messages: readonly PlannedMessage[];
  /** Number of the first request that is shown. */
  readonly from: number;
  readonly perPage: number;
};

const costsShown = 20;

export function planPart(plan: ShownPlan, viewer: Viewer): Html {
  const { run, facts } = plan;
  const { approval, cost, leftOut, windows } = facts;
  const waits = approval && approval.approvedAt === null && run.state === 'planned';
  return html`${
    approval &&
    html`<p>${badge(run.state)} It was planned by <bdi>${approval.plannedBy}</bdi> and needs the approval of another person: ${formatReason(approval.reason)}.${approval.approvedBy !== null && html` <bdi>${approval.approvedBy}</bdi> has approved it.`}</p>`
  }
${
  waits &&
  html`<p class="links">${viewer.mayApprove && html`<a class="button" href="${runPath(run.run, 'approve')}">Approve</a>`}${viewer.mayRun && html`<a class="button" href="${runPath(run.run, 'cancel')}">Cancel</a>`}</p>`
}
${figures(countsOf(plan))}
${cost.kind === 'known' && cost.lines.length > 1 && costTable(cost)}
${leftOut.length > 0 && leftOutTable(run.run, leftOut)}
${windows.length > 0 && windowTable(windows, viewer)}
${messagesPart(plan)}`;
}

function countsOf({ run, facts }: ShownPlan): Figure[] {
  const { contactsRead, recipients, requests, smsParts, cost, budget } = facts;
  const known = cost.kind === 'known' ? cost : undefined;
  return [
    {
      name: 'Recipients',
      value: number(recipients),
      note: `of ${counted(contactsRead, 'contact')} read`,
    },
    { name: 'Requests', value: number(requests) },
    { name: 'Account', value: run.account },
    { name: 'Channel', value: run.channel, note: smsParts !== null && counted(smsParts, 'part') },
    {
      name: 'Estimated cost',
      value: known ? `${groupThousands(known.total)} ${known.currency}` : 'not known',
      note: known
        ? known.tax !== null && `and tax of ${groupThousands(known.tax)}`
        : cost.kind === 'unknown' && cost.why,
    },
    {
      name: 'Budget',
      value: budget === null ? 'none' : `${groupThousands(budget)} ${known?.currency ?? ''}`,
      note: budget !== null && 'of the campaign; a plan above it is refused',
    },
  ];
}

function costTable(cost: KnownCost): Html {
  const shown = costliestLines(cost, costsShown);
  const title =
    cost.lines.length > shown.length
      ? `Who would pay: the ${shown.length} of ${number(cost.lines.length)} that pay most`
      : 'Who would pay';
  return table(
    title,
    [
      { title: 'SubAccount', cell: ({ subAccount }) => formatPayer(subAccount) },
      { title: 'ChargeCode', cell: ({ chargeCode }) => formatPayer(chargeCode) },
      { title: 'Recipients', isNumber: true, cell: ({ recipients }) => number(recipients) },
      { title: 'Units', isNumber: true, cell: ({ units }) => number(units) },
      { title: cost.currency, isNumber: true, cell: (line) => groupThousands(line.cost) },
    ],
    shown,
  );
}

function leftOutTable(run: string, leftOut: readonly RejectionGroup[]): Html {
  return html`${table<RejectionGroup>(
    'Contacts that are left out',
    [
      { title: 'Why', cell: ({ reason }) => badge(reason) },
      { title: 'Column', cell: ({ column }) => column },
      { title: 'Contacts', isNumber: true, cell: ({ contacts }) => number(contacts) },
    ],
    leftOut,
  )}
<p><a href="${runPath(run, 'rejected')}">All of them, with file and line</a></p>`;
}

function windowTable(windows: readonly PlannedWindow[], { zone }: Viewer): Html {
  return table<PlannedWindow>(
    `When it may be sent (${zone})`,
    [
      { title: 'Time zones', cell: ({ zones }) => zones.join(', ') },
      { title: 'Opens', cell: ({ opensAt }) => (opensAt ? time(opensAt, zone) : 'open now') },
      { title: 'Closes', cell: ({ closesAt }) => closesAt && time(closesAt, zone) },
      { title: 'The service sends', cell: ({ sendAt }) => sendAt && time(sendAt, zone) },
      { title: 'Requests', isNumber: true, cell: ({ requests }) => number(requests) },
    ],
    windows,
  );
}

function messagesPart({ run, facts, messages, from, perPage }: ShownPlan): Html {
  const last = facts.requests;
  if (last === 0)
    return html`<p class="empty">It has no message: its contact files have no recipient to send to.</p>`;
  const at = (request: number): string => runPath(run.run, 'plan', { request: String(request) });
  return html`<section aria-labelledby="messages-title" id="messages">
<h2 id="messages-title">Messages, as their readers get them</h2>
<form class="filter" method="get" action="${runPath(run.run, 'plan')}">
<div class="field"><label for="request">Request (1 to ${number(last)})</label><input id="request" name="request" inputmode="numeric" value="${from}"></div>
<button>Show</button>
</form>
${messages.length === 0 && html`<p class="empty">These requests were sent already, or are not sent because their recipients are suppressed.</p>`}
${messages.map(
  ({ request, recipients, message }) => html`<article class="planned" aria-label="Request ${request}">
<h3>Request ${number(request)}${recipients > 1 && html`: the first of ${counted(recipients, 'recipient')}`}</h3>
${{ kind: 'html', text: formatMessage(message) } as const}</article>
`,
)}
<nav class="pager" aria-label="Messages">
${from > 1 && html`<a rel="prev" href="${at(Math.max(1, from - perPage))}">Earlier requests</a>`}
${from + perPage <= last && html`<a rel="next" href="${at(from + perPage)}">Later requests</a>`}
</nav>
</section>`;
}
