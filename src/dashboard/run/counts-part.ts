import { recipientStates, requestStates } from '../../domain/runs.ts';
import type { LiveRun } from '../../engine/live/live-runs.ts';
import { type Columns, decimalColumn, integerColumn, stateColumn } from '../../report/column.ts';
import { share } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { listTable } from '../parts/list.ts';
import { number } from '../parts/parts.ts';

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
  const columns: Columns<StateRow> = [
    stateColumn('state', 'State'),
    integerColumn('count', what, ({ count }) => count),
    decimalColumn('share', 'Share', ({ count }) => share(count, total)),
  ];
  const caption = `${what} by state: ${number(total)}`;
  return listTable({ caption, columns, rows: rows.filter(({ count }) => count > 0) }, noTimes);
}

/** The table has no times. */
const noTimes = { zone: 'UTC' };
