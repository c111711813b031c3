import { type RunWait, waitKinds } from '../../domain/waits.ts';
import type { LiveRunList, RunLine } from '../../engine/live/run-list.ts';
import { count } from '../../platform/sentence.ts';
import { badge, shortened } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { waitWords } from '../../report/wait-words.ts';
import type { Viewer } from '../base/view.ts';
import { withCode } from '../parts/parts.ts';
import { runPath } from '../paths.ts';

/** Runs that need a person: what for, and links to what the person may do. */
export function waitingPart({ waiting, moreWaiting }: LiveRunList, viewer: Viewer): Html {
  const title = html`<p role="status" class="waiting-count"${waiting.length > 0 && html` data-waiting`}>${waitingText(waiting.length + moreWaiting)}</p>`;
  if (waiting.length === 0) return title;
  return html`${title}<section aria-labelledby="waiting-title" id="waiting">
<h2 id="waiting-title" class="hidden">Waiting for a person</h2>
<ul class="waits">${waiting.map((line) => waitingItem(line, viewer))}</ul>
${
  moreWaiting > 0 &&
  html`<p>${count(moreWaiting, 'more run')} that waited longer: all that are <a href="/?state=paused">paused</a>, <a href="/?state=planned">planned</a>.</p>`
}
</section>`;
}

function waitingText(runs: number): string {
  if (runs === 0) return 'No run waits for a person.';
  return runs === 1 ? '1 run waits for a person.' : `${count(runs, 'run')} wait for a person.`;
}

function waitingItem({ head, waits }: RunLine, viewer: Viewer): Html {
  const { run, campaign, state } = head;
  // The page says above that the ledger is on hold.
  const needs = waits.filter((wait) => waitKinds[wait.kind].needsPerson && wait.kind !== 'ledger on hold');
  const words = needs.map((wait) => {
    const { what, next } = waitWords(wait, viewer.zone);
    return html`<p><strong dir="auto">${withCode(shortened(what))}</strong> ${withCode(next)}</p>`;
  });
  const links = needs
    .flatMap((wait) => linksFor(wait, run, viewer))
    .map(
      ({ href, text }) =>
        html`<li><a class="button" href="${href}" aria-describedby="waiting-${run}-name">${text}</a></li>`,
    );
  return html`<li id="waiting-${run}"><a id="waiting-${run}-name" href="${runPath(run)}"><bdi>${shortened(campaign, 100)}</bdi> (${run})</a> ${badge(state)}
${words}
${links.length > 0 && html`<ul class="links">${links}</ul>`}</li>
`;
}

type Link = { readonly href: string; readonly text: string };

function linksFor({ kind }: RunWait, run: string, { mayRun, mayApprove, mayAdmin }: Viewer): Link[] {
  const cancel = { href: runPath(run, 'cancel'), text: 'Cancel' };
  const offered: (Link | false)[] =
    kind === 'approval'
      ? [
          { href: runPath(run, 'plan'), text: 'Look at the plan' },
          mayApprove && { href: runPath(run, 'approve'), text: 'Approve' },
          mayRun && cancel,
        ]
      : kind === 'resume'
        ? [mayRun && { href: runPath(run, 'resume'), text: 'Resume' }, mayRun && cancel]
        : kind === 'doubts'
          ? [{ href: runPath(run, 'doubts'), text: mayAdmin ? 'Resolve doubts' : 'Look at the doubts' }]
          : [];
  return offered.filter((link) => link !== false);
}
