import { asksForPerson, type Check } from '../../domain/doctor.ts';
import type { NextStep } from '../../domain/next-step.ts';
import { hasEnded } from '../../domain/runs.ts';
import { isPromotable, needsPerson, type RunWait } from '../../domain/waits.ts';
import type { LiveRunList, RunLine } from '../../engine/live/run-list.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import { count } from '../../platform/sentence.ts';
import { describeUnapplied } from '../../platform/unapplied-reports-text.ts';
import { badge, shortened } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { runStateWords } from '../../report/run/run-outcome.ts';
import { formatLocal } from '../../report/time.ts';
import { waitWords } from '../../report/wait-words.ts';
import type { PageLink } from '../base/layout.ts';
import type { Viewer } from '../base/view.ts';
import { nextStepPart, withCode } from '../parts/next-step.ts';
import { accountPath, runActionLink, runPath } from '../paths.ts';

/** Everything that waits for a person: what for, and links to what the person may do. */
export function waitingPart(list: LiveRunList, checks: readonly Check[] | undefined, viewer: Viewer): Html {
  const { waiting, moreWaiting } = list;
  const runs = waiting.map((line) => waitingRun(line, viewer));
  const others = otherItems(list, checks ?? [], viewer);
  const title = html`<p role="status" class="waiting-count"${runs.length + others.length > 0 && html` data-waiting`}>${waitingText(runs.length + moreWaiting, others.length)}${checks === undefined && ' Checks are being made.'}</p>`;
  if (runs.length + others.length === 0) return title;
  return html`${title}<section aria-labelledby="waiting-title" id="waiting">
<h2 id="waiting-title" class="hidden">Waiting for a person</h2>
<ul class="waits">${others}${runs}</ul>
${
  moreWaiting > 0 &&
  html`<p>${count(moreWaiting, 'more run')} that waited longer: all that are <a href="/?state=paused">paused</a>, <a href="/?state=planned">planned</a>.</p>`
}
</section>`;
}

function waitingText(runs: number, others: number): string {
  const ofRuns = runs > 0 && count(runs, 'run');
  const ofOthers = others > 0 && `${others}${runs > 0 ? ' other' : ''} ${others === 1 ? 'thing' : 'things'}`;
  const words = [ofRuns, ofOthers].filter((each) => each !== false).join(' and ');
  if (words === '') return 'Nothing waits for a person.';
  return `${words} ${runs + others === 1 ? 'waits' : 'wait'} for a person.`;
}

/** What `volley doctor` finds, except of runs, and what concerns the figures of the page itself. */
function otherItems({ onHold, unapplied }: LiveRunList, checks: readonly Check[], viewer: Viewer): Html[] {
  const { zone } = viewer;
  const hold = onHold && waitWords({ kind: 'ledger on hold', reason: onHold }, zone);
  const ofReports = describeUnapplied(unapplied, (at) => `${formatLocal(at, zone)} ${zone}`);
  const isSaid = new Set([
    'runs',
    'requests in doubt',
    ...(hold ? ['ledger'] : []),
    ...(ofReports.length > 0 ? ['inbox'] : []),
  ]);
  const found = checks.filter((check) => asksForPerson(check) && !isSaid.has(check.name));
  const item = (what: string, next: NextStep | null): Html =>
    html`<li><p>${what !== '' && html`<strong dir="auto">${withCode(what)}</strong> `}${next !== null && nextStepPart(next, viewer, 'button')}</p></li>
`;
  return [
    ...(hold ? [item(hold.what, hold.next)] : []),
    ...ofReports.map((words) => item('', words)),
    ...found.map(({ found: what, nextStep }) => item(what, nextStep)),
  ];
}

function waitingRun(line: RunLine, viewer: Viewer): Html {
  const { head, waits } = line;
  const { run, campaign, state } = head;
  // The list says above that the ledger is on hold.
  const needs = waits.filter((wait) => needsPerson(wait) && wait.kind !== 'ledger on hold');
  const words = needs.map((wait) => {
    const { what, next } = waitWords(wait, viewer.zone);
    return html`<p><strong dir="auto">${withCode(shortened(what))}</strong> ${nextStepPart(next, viewer)}</p>`;
  });
  const links = runLinks(line, viewer).map(
    ({ href, text }) =>
      html`<li><a class="button" href="${href}" aria-describedby="waiting-${run}-name">${text}</a></li>`,
  );
  return html`<li id="waiting-${run}"><a id="waiting-${run}-name" href="${runPath(run)}"><bdi>${shortened(campaign, 100)}</bdi> (${run})</a> ${badge(runStateWords(state, head.outcome.unknown))}
${words}
${links.length > 0 && html`<ul class="links">${links}</ul>`}</li>
`;
}

/** What the person may do about the run in its state. Each link leads to a page that asks first. */
export function runLinks(
  { head, waits, progress }: Pick<RunLine, 'waits' | 'progress'> & { readonly head: ListedRun },
  { mayRun, mayApprove, mayAdmin }: Viewer,
): readonly PageLink[] {
  const { run, state } = head;
  const { requests, recipients } = progress.counts;
  const waitsFor = (kind: RunWait['kind']): boolean => waits.some((wait) => wait.kind === kind);
  const waitsForApproval = waitsFor('approval');
  const canRerun = hasEnded(state) && head.purgedAt === null;
  const canResume = state === 'paused' || (state === 'planned' && !waitsForApproval);
  const rerun = (only: 'failed' | 'unknown') => ({
    href: runPath(run, 'rerun', { only }),
    text: `Send again to ${only}`,
  });
  const ofRun = [
    waitsForApproval && mayApprove && runActionLink(run, 'approve'),
    waits.some(isPromotable) && runActionLink(run, 'promote'),
    state === 'running' && runActionLink(run, 'pause'),
    canResume && runActionLink(run, 'resume'),
    (!hasEnded(state) || waitsFor('winner')) && runActionLink(run, 'cancel'),
    canRerun && recipients.rejected + recipients.failed > 0 && rerun('failed'),
    canRerun && recipients.unknown > 0 && rerun('unknown'),
  ];
  const doubts = mayAdmin ? 'Resolve doubts' : 'Look at the doubts';
  return [
    waitsForApproval && { href: runPath(run, 'plan'), text: 'Look at the plan' },
    ...waits.map((wait) => wait.kind === 'resume' && refusedAccount(wait)),
    requests.in_doubt > 0 && { href: runPath(run, 'doubts'), text: doubts },
    ...(mayRun ? ofRun : []),
  ].filter((link) => link !== false);
}

function refusedAccount({ reason }: Extract<RunWait, { kind: 'resume' }>): PageLink | false {
  if (typeof reason !== 'object' || reason?.kind !== 'credential_refused') return false;
  return { href: accountPath(reason.account), text: 'Look at the account' };
}
