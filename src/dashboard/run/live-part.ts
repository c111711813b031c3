import { hasEnded, type RequestState, requestStates } from '../../domain/runs.ts';
import { isPromotable, needsPerson } from '../../domain/waits.ts';
import type { LiveRun } from '../../engine/live/live-runs.ts';
import { asSentence } from '../../platform/sentence.ts';
import { type Columns, decimalColumn, integerColumn, stateColumn } from '../../report/column.ts';
import { badge } from '../../report/html/cells.ts';
import { groupThousands, share } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { variantResultColumns } from '../../report/lists/variants.ts';
import { erasedWords } from '../../report/purge-hold.ts';
import { runStateWords } from '../../report/run/run-outcome.ts';
import { settlingText, waitWords } from '../../report/wait-words.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { nextStepPart, withCode } from '../parts/next-step.ts';
import { folded, section, unappliedBanner } from '../parts/parts.ts';
import { runActionLink, runPath } from '../paths.ts';
import { answersPart, chartPart } from './answers-part.ts';
import { outcomePart } from './outcome-part.ts';
import { costsPart, decisionsPart, eventsPart, failuresPart } from './result-parts.ts';

/** Everything of the page that changes while the run is sent. Links lead to actions; nothing in it is a form. */
export function livePart(live: LiveRun, viewer: Viewer): Html {
  return html`${statePart(live)}
${unappliedBanner(live.unapplied, viewer)}
${outcomePart(live)}
${live.variants.length > 0 && section('variants', 'Variants', listTable({ caption: 'What came of each', columns: variantResultColumns, rows: live.variants }, viewer))}
${decisionPart(live, viewer)}
${decisionsPart(live, viewer)}
${failuresPart(live, viewer)}
${chartPart(live, viewer)}
${answersPart(live, viewer)}
${live.progress.total > 0 && countsPart(live)}
${costsPart(live, viewer)}
${eventsPart(live, viewer)}`;
}

/** The state. It is announced when it changes, so it has no figures that change all the time. */
function statePart({ head, progress }: LiveRun): Html {
  const settling = progress.state === 'running' && progress.phase === 'settling doubts';
  const state = runStateWords(head.state, progress.counts.recipients.unknown);
  return html`<p class="state" id="state" role="status" aria-label="State of the run">${badge(state)}${head.kind === 'test' && html` ${badge('test')}`}
${settling && ` ${settlingText}`}
${head.purgedAt && ` ${asSentence(erasedWords.run)}`}</p>`;
}

/** What the run waits for, and what the person may do to it. */
function decisionPart(live: LiveRun, viewer: Viewer): Html | undefined {
  const { waits } = live;
  const actions = actionLinks(live, viewer);
  if (waits.length === 0) return actions;
  const items = waits.map((wait) => {
    const { what, next } = waitWords(wait, viewer.zone);
    return html`<li><strong dir="auto">${withCode(what)}</strong> ${nextStepPart(next, viewer)}</li>`;
  });
  const title = waits.some(needsPerson) ? 'What needs a decision' : 'What it waits for';
  return section('decision', title, html`<div role="status"><ul class="waits">${items}</ul></div>${actions}`);
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
    waits.some(isPromotable) && runActionLink(run, 'promote'),
    state === 'running' && runActionLink(run, 'pause'),
    canResume && runActionLink(run, 'resume'),
    (!hasEnded(state) || waits.some(({ kind }) => kind === 'winner')) && runActionLink(run, 'cancel'),
    requests.in_doubt > 0 && mayAdmin && { href: runPath(run, 'doubts'), text: 'Resolve doubts' },
    canRerun && recipients.rejected + recipients.failed > 0 && rerun('failed'),
    canRerun && recipients.unknown > 0 && rerun('unknown'),
  ].filter((link) => link !== false);
  if (offered.length === 0) return undefined;
  return html`<nav class="actions" id="actions" aria-label="Actions"><ul>${offered.map(
    ({ href, text }) => html`<li><a class="button" href="${href}">${text}</a></li>`,
  )}</ul></nav>`;
}

type StateRow = { readonly state: RequestState; readonly count: number };

/** Requests by state. */
export function countsPart({ progress }: LiveRun): Html {
  const { requests } = progress.counts;
  const columns: Columns<StateRow> = [
    stateColumn('state', 'State'),
    integerColumn('count', 'Requests'),
    decimalColumn('share', 'Share', ({ count }) => share(count, requests.total)),
  ];
  const rows = requestStates.map((state) => ({ state, count: requests[state] }));
  const caption = `Requests by state: ${groupThousands(requests.total)}`;
  const list = { caption, columns, rows: rows.filter(({ count }) => count > 0) };
  return folded('counts', 'Requests by state', listTable(list));
}
