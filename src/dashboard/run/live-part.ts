import type { LiveRun } from '../../engine/live/live-runs.ts';
import { badge } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { waitWords } from '../../report/wait-words.ts';
import type { Viewer } from '../base/view.ts';
import { withCode } from '../parts/parts.ts';
import { unappliedBanner } from '../parts/unapplied-banner.ts';
import { actionLinks } from './action-links.ts';
import { answersPart } from './answers-part.ts';
import { costsPart } from './costs-part.ts';
import { countsPart } from './counts-part.ts';
import { eventsPart } from './events-part.ts';
import { failuresPart } from './failures-part.ts';
import { stagesPart } from './stages-part.ts';

/** Everything of the page that changes while the run is sent. Links lead to actions; nothing in it is a form. */
export function livePart(live: LiveRun, viewer: Viewer): Html {
  const isEmpty = live.progress.total === 0;
  return html`${statePart(live, viewer)}
${unappliedBanner(live.unapplied, viewer)}
${actionLinks(live, viewer)}
${isEmpty ? html`<p class="empty">It has no request: its contact files have no recipient to send to.</p>` : stagesPart(live)}
${failuresPart(live, viewer)}
${answersPart(live, viewer)}
${!isEmpty && countsPart(live)}
${costsPart(live, viewer)}
${eventsPart(live, viewer)}`;
}

/** Announced when it changes, so it has no figures that change all the time. */
function statePart({ head, waits, progress }: LiveRun, { zone }: Viewer): Html {
  const settling = progress.state === 'running' && progress.phase === 'settling doubts';
  const words = waits.map((wait) => waitWords(wait, zone));
  return html`<section class="state" id="state" role="status" aria-label="State of the run">
<p>${badge(head.state)}${head.kind === 'test' && html` ${badge('test')}`}
${settling && html` Everything is sent; requests in doubt are being settled.`}
${head.purgedAt && html` Its contacts and messages are erased; counts and costs stay.`}</p>
${words.length > 0 && html`<ul class="waits">${words.map(({ what, next }) => html`<li><strong dir="auto">${withCode(what)}</strong> ${withCode(next)}</li>`)}</ul>`}
</section>`;
}
