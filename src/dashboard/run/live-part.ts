import { hasEnded, recipientStates, requestStates } from '../../domain/runs.ts';
import type { LiveRun } from '../../engine/live/live-runs.ts';
import { asSentence, count } from '../../platform/sentence.ts';
import { type Columns, decimalColumn, integerColumn, stateColumn } from '../../report/column.ts';
import { badge } from '../../report/html/cells.ts';
import { groupThousands, share } from '../../report/html/figures.ts';
import { type Html, html, type Part } from '../../report/html/html.ts';
import { erasedWords } from '../../report/purge-hold.ts';
import { formatSeconds } from '../../report/time.ts';
import { settlingText, waitWords } from '../../report/wait-words.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { nextStepPart, withCode } from '../parts/next-step.ts';
import { nothingToSend, progressBar, section, unappliedBanner } from '../parts/parts.ts';
import { runActionLink, runPath } from '../paths.ts';
import { answersPart } from './answers-part.ts';
import { costsPart, eventsPart, failuresPart } from './result-parts.ts';

/** Everything of the page that changes while the run is sent. Links lead to actions; nothing in it is a form. */
export function livePart(live: LiveRun, viewer: Viewer): Html {
  const isEmpty = live.progress.total === 0;
  return html`${statePart(live, viewer)}
${unappliedBanner(live.unapplied, viewer)}
${actionLinks(live, viewer)}
${isEmpty ? html`<p class="empty">It has no request: ${nothingToSend}.</p>` : stagesPart(live)}
${failuresPart(live, viewer)}
${answersPart(live, viewer)}
${!isEmpty && countsPart(live)}
${costsPart(live, viewer)}
${eventsPart(live, viewer)}`;
}

/** The state. It is announced when it changes, so it has no figures that change all the time. */
function statePart({ head, waits, progress }: LiveRun, viewer: Viewer): Html {
  const settling = progress.state === 'running' && progress.phase === 'settling doubts';
  const words = waits.map((wait) => waitWords(wait, viewer.zone));
  return html`<section class="state" id="state" role="status" aria-label="State of the run">
<p>${badge(head.state)}${head.kind === 'test' && html` ${badge('test')}`}
${settling && ` ${settlingText}`}
${head.purgedAt && ` ${asSentence(erasedWords.run)}`}</p>
${words.length > 0 && html`<ul class="waits">${words.map(({ what, next }) => html`<li><strong dir="auto">${withCode(what)}</strong> ${nextStepPart(next, viewer)}</li>`)}</ul>`}
</section>`;
}

/** What the person may do to the run in its state. Each link leads to a page that asks first. */
export function actionLinks(
  { head, waits, progress }: LiveRun,
  { mayRun, mayApprove, mayAdmin }: Viewer,
): Html | undefined {
  if (!mayRun) return undefined;
  const { run, state } = head;
  const canRerun = hasEnded(state) && head.purgedAt === null;
  const { requests, recipients } = progress.counts;
  const waitsForApproval = waits.some(({ kind }) => kind === 'approval');
  const canResume = state === 'paused' || (state === 'planned' && !waitsForApproval);
  const rerun = (only: 'failed' | 'unknown') => ({
    href: runPath(run, 'rerun', { only }),
    text: `Send again to ${only}`,
  });
  const offered = [
    waitsForApproval && mayApprove && runActionLink(run, 'approve'),
    state === 'running' && runActionLink(run, 'pause'),
    canResume && runActionLink(run, 'resume'),
    !hasEnded(state) && runActionLink(run, 'cancel'),
    requests.in_doubt > 0 && mayAdmin && { href: runPath(run, 'doubts'), text: 'Resolve doubts' },
    canRerun && recipients.rejected + recipients.failed > 0 && rerun('failed'),
    canRerun && recipients.unknown > 0 && rerun('unknown'),
  ].filter((link) => link !== false);
  if (offered.length === 0) return undefined;
  return html`<nav class="actions" id="actions" aria-label="Actions"><ul>${offered.map(
    ({ href, text }) => html`<li><a class="button" href="${href}">${text}</a></li>`,
  )}</ul></nav>`;
}

type Stage = {
  readonly name: string;
  readonly part: number;
  readonly whole: number;
  readonly text: Part;
};

/** The stages from contacts to delivery reports, each with what is done of it. */
function stagesPart(live: LiveRun): Html {
  return section('stages', 'Progress', html`<ol class="stages">${stagesOf(live).map(stageItem)}</ol>`);
}

function stageItem({ name, part, whole, text }: Stage): Html {
  return html`<li><h3>${name}</h3>
${progressBar(name, part, whole)}
<p>${text}</p></li>
`;
}

function stagesOf(live: LiveRun): Stage[] {
  const { progress, rejections } = live;
  const { settled, total, counts } = progress;
  const { recipients, requests, reportedUnsent } = counts;
  const inDoubt = requests.in_doubt;
  const notAccepted = Math.max(0, progress.notAccepted - inDoubt);
  const leftOut = rejections.reduce((sum, { contacts }) => sum + contacts, 0);
  const accepted = recipients.accepted + recipients.delivered + recipients.undelivered;
  const reported = recipients.delivered + recipients.undelivered;
  return [
    {
      name: 'Planned',
      part: total,
      whole: total,
      text: html`${count(total, 'request')}${leftOut > 0 && html`; ${count(leftOut, 'contact')} left out`}`,
    },
    {
      name: 'Sent',
      part: settled,
      whole: total,
      text: html`${groupThousands(settled)} of ${count(total, 'request')} (${share(settled, total)})${notAccepted > 0 && html`, ${groupThousands(notAccepted)} not accepted`}${inDoubt > 0 && html`, ${groupThousands(inDoubt)} in doubt`}${speed(live)}`,
    },
    {
      name: 'Reported',
      part: reported,
      whole: accepted,
      text: html`${groupThousands(recipients.delivered)} delivered, ${groupThousands(recipients.undelivered)} undelivered, ${groupThousands(recipients.accepted)} not reported yet${reportedUnsent > 0 && html`; ${groupThousands(reportedUnsent)} reported, not sent`}`,
    },
  ];
}

function speed({ perSecond, secondsLeft }: LiveRun): Html | undefined {
  if (!perSecond) return undefined;
  return html`; ${groupThousands(Math.round(perSecond.requests))} requests a second now${secondsLeft !== null && html`, ${formatSeconds(secondsLeft)} left`}`;
}

/** Requests and recipients by state. */
export function countsPart({ progress }: LiveRun): Html {
  const { requests, recipients } = progress.counts;
  const ofRecipients = recipientStates.map((state) => ({ state, count: recipients[state] }));
  const ofRequests = requestStates.map((state) => ({ state, count: requests[state] }));
  const body = html`<div class="side-by-side">
${stateTable('Recipients', ofRecipients, recipients.total)}
${stateTable('Requests', ofRequests, requests.total)}
</div>`;
  return section('counts', 'By state', body);
}

type StateRow = { readonly state: string; readonly count: number };

function stateTable(what: string, rows: readonly StateRow[], total: number): Html {
  const columns: Columns<StateRow> = [
    stateColumn('state', 'State'),
    integerColumn('count', what),
    decimalColumn('share', 'Share', ({ count }) => share(count, total)),
  ];
  const caption = `${what} by state: ${groupThousands(total)}`;
  return listTable({ caption, columns, rows: rows.filter(({ count }) => count > 0) });
}
