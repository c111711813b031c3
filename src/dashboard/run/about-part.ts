import type { ListedRun } from '../../ledger/runs/find.ts';
import { time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { Viewer } from '../base/view.ts';
import { runPath } from '../paths.ts';

/** What does not change while the run is sent: whose it is, and where to read more. The heading has its name. */
export function aboutPart(head: ListedRun, { zone }: Viewer): Html {
  return html`<dl class="details in-a-line">
<div><dt>Account</dt><dd dir="auto">${head.account}</dd></div>
<div><dt>Channel</dt><dd>${head.channel}</dd></div>
<div><dt>Planned</dt><dd>${time(head.createdAt, zone)} ${zone}</dd></div>
<div><dt>More</dt><dd>${head.purgedAt === null && html`<a href="${runPath(head.run, 'plan')}">Plan and messages</a>, `}<a href="#downloads">downloads</a></dd></div>
</dl>`;
}
