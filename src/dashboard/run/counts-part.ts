import { recipientStates, requestStates } from '../../domain/runs.ts';
import type { LiveRun } from '../../engine/live/live-runs.ts';
import { share } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { badge, number, table } from '../parts/parts.ts';

/** Requests and recipients by state. */
export function countsPart({ progress }: LiveRun): Html {
  const { requests, recipients } = progress.counts;
  return html`<section aria-labelledby="counts-title" id="counts">
<h2 id="counts-title">By state</h2>
<div class="side-by-side">
${stateTable(
  'Recipients',
  recipientStates.map((state) => ({ state, count: recipients[state] })),
  recipients.total,
)}
${stateTable(
  'Requests',
  requestStates.map((state) => ({ state, count: requests[state] })),
  requests.total,
)}
</div>
</section>`;
}

type StateRow = { readonly state: string; readonly count: number };

function stateTable(what: string, rows: readonly StateRow[], total: number): Html {
  return table<StateRow>(
    `${what} by state: ${number(total)}`,
    [
      { title: 'State', cell: ({ state }) => badge(state) },
      { title: what, isNumber: true, cell: ({ count }) => number(count) },
      { title: 'Share', isNumber: true, cell: ({ count }) => share(count, total) },
    ],
    rows.filter(({ count }) => count > 0),
  );
}
