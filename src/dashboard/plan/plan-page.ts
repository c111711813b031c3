import type { FastifyInstance } from 'fastify';
import { costliestLines, type KnownCost } from '../../campaign/cost.ts';
import { formatReason } from '../../domain/reasons.ts';
import { createPlannedFacts, type PlannedRunFacts } from '../../engine/plan/planned-facts.ts';
import { type PlannedMessage, readPlannedMessages } from '../../engine/plan/planned-messages.ts';
import type { RejectionGroup } from '../../ledger/counts/groups.ts';
import type { WindowOfRun } from '../../ledger/planning/planned-totals.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, integerColumn, textColumn, timeColumn } from '../../report/column.ts';
import { badge } from '../../report/html/cells.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { messagePart } from '../../report/html/preview-message.ts';
import { costColumns } from '../../report/lists/plan-costs.ts';
import { rejectionColumns } from '../../report/lists/rejected.ts';
import { numberIn } from '../base/fields.ts';
import { messagePolicy } from '../base/guards.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import { requireVisibleRun, type Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { type Figure, figures, nothingToSend } from '../parts/parts.ts';
import { runActionLink, runPath } from '../paths.ts';

const messagesPerPage = 3;

/** What a run was planned to send, before a person approves it: counts, cost, windows and messages. */
export function addPlanPage(server: FastifyInstance, { limits }: Tools): void {
  const plans = createPlannedFacts();
  addPage(server, { path: '/runs/:run/plan', scope: 'read' }, async (view, asked) => {
    const run = await requireVisibleRun(view, asked);
    const plan = await limits.page(async () => {
      const facts = await plans.read(view.context, run.run);
      const from = Math.min(Math.max(1, numberIn(asked.query, 'request')), Math.max(1, facts.requests));
      const messages = await readPlannedMessages(view.context, run, from, messagesPerPage);
      return { run, facts, messages, from, perPage: messagesPerPage };
    });
    return {
      title: `Plan of ${run.campaign}`,
      within: { href: runPath(run.run), text: `${run.campaign} (${run.run})` },
      body: planPart(plan, view),
      policy: messagePolicy,
    };
  });
}

type ShownPlan = {
  readonly run: ListedRun;
  readonly facts: PlannedRunFacts;
  readonly messages: readonly PlannedMessage[];
  /** Number of the first request that is shown. */
  readonly from: number;
  readonly perPage: number;
};

const costsShown = 20;

/** The plan, with links for a person who may approve or cancel it. */
export function planPart(plan: ShownPlan, viewer: Viewer): Html {
  const { run, facts } = plan;
  const { approval, cost, rejections, windows } = facts;
  const waits = approval && approval.approvedAt === null && run.state === 'planned';
  return html`${
    approval &&
    html`<p>${badge(run.state)} It was planned by <bdi>${approval.plannedBy}</bdi> and needs the approval of another person: ${formatReason(approval.reason)}.${approval.approvedBy !== null && html` <bdi>${approval.approvedBy}</bdi> has approved it.`}</p>`
  }
${
  waits &&
  html`<p class="links">${viewer.mayApprove && actionButton(run.run, 'approve')}${viewer.mayRun && actionButton(run.run, 'cancel')}</p>`
}
${figures(countsOf(plan))}
${cost.kind === 'known' && cost.lines.length > 1 && costTable(cost, viewer)}
${rejections.length > 0 && rejectionsTable(run.run, rejections, viewer)}
${windows.length > 0 && listTable({ caption: 'When it may be sent', columns: windowColumns, rows: windows }, viewer)}
${messagesPart(plan)}`;
}

function actionButton(run: string, action: 'approve' | 'cancel'): Html {
  const { href, text } = runActionLink(run, action);
  return html`<a class="button" href="${href}">${text}</a>`;
}

function countsOf({ run, facts }: ShownPlan): Figure[] {
  const { contactsRead, recipients, requests, smsParts, cost, budget } = facts;
  const known = cost.kind === 'known' ? cost : undefined;
  return [
    {
      name: 'Recipients',
      value: groupThousands(recipients),
      note: `of ${count(contactsRead, 'contact')} read`,
    },
    { name: 'Requests', value: groupThousands(requests) },
    { name: 'Account', value: run.account },
    { name: 'Channel', value: run.channel, note: smsParts !== null && count(smsParts, 'part') },
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

function costTable(cost: KnownCost, viewer: Viewer): Html {
  const shown = costliestLines(cost, costsShown);
  const caption =
    cost.lines.length > shown.length
      ? `Who would pay: the ${shown.length} of ${groupThousands(cost.lines.length)} that pay most`
      : 'Who would pay';
  return listTable({ caption, columns: costColumns(cost), rows: shown }, viewer);
}

function rejectionsTable(run: string, rejections: readonly RejectionGroup[], viewer: Viewer): Html {
  return html`${listTable({ caption: 'Contacts that are left out', columns: rejectionColumns, rows: rejections }, viewer)}
<p><a href="${runPath(run, 'rejected')}">All of them, with file and line</a></p>`;
}

const windowColumns: Columns<WindowOfRun> = [
  textColumn('zones', 'Time zones', ({ zones }) => zones.join(', ')),
  timeColumn('opensAt', 'Opens', { shown: ({ opensAt }) => opensAt ?? 'open now' }),
  timeColumn('closesAt', 'Closes'),
  timeColumn('sendAt', 'The service sends'),
  integerColumn('requests', 'Requests'),
];

function messagesPart({ run, facts, messages, from, perPage }: ShownPlan): Html {
  const last = facts.requests;
  if (last === 0) return html`<p class="empty">It has no message: ${nothingToSend}.</p>`;
  const at = (request: number): string => runPath(run.run, 'plan', { request: String(request) });
  return html`<section aria-labelledby="messages-title" id="messages">
<h2 id="messages-title">Messages, as their readers get them</h2>
<form class="filter" method="get" action="${runPath(run.run, 'plan')}">
<div class="field"><label for="request">Request (1 to ${groupThousands(last)})</label><input id="request" name="request" inputmode="numeric" value="${from}"></div>
<button>Show</button>
</form>
${messages.length === 0 && html`<p class="empty">These requests were sent already, or are not sent because their recipients are suppressed.</p>`}
${messages.map(
  ({ request, recipients, message }) => html`<article class="planned" aria-label="Request ${request}">
<h3>Request ${groupThousands(request)}${recipients > 1 && html`: the first of ${count(recipients, 'recipient')}`}</h3>
${messagePart(message)}</article>
`,
)}
<nav class="pager" aria-label="Messages">
${from > 1 && html`<a rel="prev" href="${at(Math.max(1, from - perPage))}">Earlier requests</a>`}
${from + perPage <= last && html`<a rel="next" href="${at(from + perPage)}">Later requests</a>`}
</nav>
</section>`;
}
