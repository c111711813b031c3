import type { LiveRun } from '../../engine/live/live-runs.ts';
import type { FailureGroup } from '../../ledger/runs/failure-groups.ts';
import { undeliveredGroup } from '../../ledger/runs/undelivered.ts';
import { formatReasonOrNull } from '../../platform/reason-text.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { Viewer } from '../base/view.ts';
import { badge, number, shortened, table } from '../parts/parts.ts';
import { runPath } from '../paths.ts';
import { asOfNote } from './as-of-note.ts';

/** What the service did not accept or deliver, and which contacts were left out, grouped by its words. */
export function failuresPart(live: LiveRun, viewer: Viewer): Html | undefined {
  const { failures = [], results = [], rejections = [], head } = live;
  const undelivered = results.filter(({ outcome }) => outcome === 'undelivered');
  if (failures.length === 0 && undelivered.length === 0 && rejections.length === 0) return undefined;
  return html`<section aria-labelledby="failures-title" id="failures">
<h2 id="failures-title">What did not arrive ${asOfNote(live, viewer, 'failures', 'results')}</h2>
${failures.length > 0 && failureTable(head.run, failures)}
${
  undelivered.length > 0 &&
  table(
    'Undelivered, in the words of the delivery reports',
    [
      {
        title: 'Words',
        isLong: true,
        cell: ({ result }) =>
          html`<a href="${runPath(head.run, 'undelivered', { group: undeliveredGroup(result) })}">${shortened(result ?? 'no words')}</a>`,
      },
      { title: 'Recipients', isNumber: true, cell: ({ recipients }) => number(recipients) },
    ],
    undelivered,
  )
}
${
  rejections.length > 0 &&
  html`${table(
    'Contacts that were left out',
    [
      { title: 'Why', cell: ({ reason }) => badge(reason) },
      { title: 'Column', cell: ({ column }) => column },
      { title: 'Contacts', isNumber: true, cell: ({ contacts }) => number(contacts) },
    ],
    rejections,
  )}
<p><a href="${runPath(head.run, 'rejected')}">All contacts that were left out, with file and line</a></p>`
}
</section>`;
}

function failureTable(run: string, failures: readonly FailureGroup[]): Html {
  return table<FailureGroup>(
    'Requests that were not accepted, in the words of the service',
    [
      {
        title: 'Words',
        isLong: true,
        cell: ({ group, reason }) =>
          html`<a href="${runPath(run, 'failures', { group })}">${formatReasonOrNull(reason) ?? 'no words'}</a>`,
      },
      { title: 'State', cell: ({ state }) => badge(state) },
      { title: 'Requests', isNumber: true, cell: ({ requests }) => number(requests) },
      { title: 'Recipients', isNumber: true, cell: ({ recipients }) => number(recipients) },
    ],
    failures,
  );
}
