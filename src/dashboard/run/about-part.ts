import type { ListedRun } from '../../ledger/runs/find.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { Viewer } from '../base/view.ts';
import { figures, time } from '../parts/parts.ts';
import { runPath } from '../paths.ts';

/** What does not change while the run is sent: whose it is, and where to read more. */
export function aboutPart(head: ListedRun, { zone }: Viewer): Html {
  return html`${figures([
    { name: 'Run', value: html`<code>${head.run}</code>` },
    { name: 'Account', value: head.account },
    { name: 'Channel', value: head.channel },
    { name: 'Planned', value: time(head.createdAt, zone), note: zone },
  ])}
<p class="links"><a href="${runPath(head.run, 'plan')}">Plan and messages</a> <a href="#downloads">Downloads</a></p>`;
}
