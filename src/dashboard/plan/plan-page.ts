import { formatReason } from '../../domain/reasons.ts';
import { createPlannedFacts } from '../../engine/plan/planned-facts.ts';
import { readPlannedMessages } from '../../engine/plan/planned-messages.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import { count } from '../../platform/sentence.ts';
import { badge } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { messagePart } from '../../report/html/preview-message.ts';
import { showText } from '../../report/html/preview-text.ts';
import { numberIn } from '../base/fields.ts';
import { messagePolicy } from '../base/guards.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, requireVisibleRun, type View, type Viewer } from '../base/view.ts';
import { runActionLink, runPath } from '../paths.ts';
import { planPart } from './plan-part.ts';

const perPage = 3;

export type ReadPlannedRun = ReturnType<typeof createPlannedRunReader>;
type PlannedRun = Awaited<ReturnType<ReadPlannedRun>>;

export function createPlannedRunReader({ limits, campaignSource }: Tools) {
  const readFacts = createPlannedFacts();
  return (view: View, run: ListedRun, query: Asked['query']) =>
    limits.page(async () => {
      const facts = await readFacts(view.context, run.run, campaignSource.accountNamed);
      const from = Math.min(Math.max(1, numberIn(query, 'request')), Math.max(1, facts.requests));
      const messages = await readPlannedMessages(view.context, run, from, perPage);
      return { run, facts, messages, from };
    });
}

/** What a run was planned to send, before a person approves it. */
export function addPlanPage({ addPage }: Tools, readPlan: ReadPlannedRun): void {
  addPage({ path: '/runs/:run/plan', scope: 'read' }, async (view, asked) => {
    const run = await requireVisibleRun(view, asked);
    return {
      title: `Plan of ${run.campaign}`,
      within: { href: runPath(run.run), text: `${run.campaign} (${run.run})` },
      body: plannedPart(await readPlan(view, run, asked.query), view),
      policy: messagePolicy,
    };
  });
}

/** The plan of a run, on its own page, or on the page that asks whether it is approved. */
export function plannedPart(
  { run, facts, messages, from }: PlannedRun,
  viewer: Viewer,
  page: 'plan' | 'approve' = 'plan',
): Html {
  const { approval } = facts;
  const waits = page === 'plan' && approval?.approvedAt === null && run.state === 'planned';
  const shown = messages.map(({ request, recipients, message }) => ({
    number: request,
    about: html`${recipients > 1 && html`: the first of ${count(recipients, 'recipient')}`}`,
    body: messagePart(message),
  }));
  const sent = {
    by: 'request',
    word: 'Request',
    path: runPath(run.run, page),
    query: {},
    chosen: from,
    last: facts.requests,
    perPage,
    shown,
    missing: 'These requests were sent already, or are not sent because their recipients are suppressed.',
  } as const;
  const leftOut = html`<p><a href="${runPath(run.run, 'recipients', { state: 'left out' })}">All of them, with file and line</a></p>`;
  return html`${
    approval &&
    html`<p>${badge(run.state)} It was planned by <bdi>${approval.plannedBy}</bdi> and needs the approval of another person: ${formatReason(approval.reason)}.${approval.approvedBy !== null && html` <bdi>${approval.approvedBy}</bdi> has approved it.`}</p>`
  }
${facts.notes.length > 0 && html`<ul>${facts.notes.map((note) => html`<li dir="auto">${showText(note)}</li>`)}</ul>`}
${
  waits &&
  html`<p class="links">${viewer.mayApprove && actionButton(run.run, 'approve')}${viewer.mayRun && actionButton(run.run, 'cancel')}</p>`
}
${planPart(facts, sent, leftOut, viewer)}`;
}

function actionButton(run: string, action: 'approve' | 'cancel'): Html {
  const { href, text } = runActionLink(run, action);
  return html`<a class="button" href="${href}">${text}</a>`;
}
