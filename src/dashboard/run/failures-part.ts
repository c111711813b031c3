import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { LiveRun } from '../../engine/live/live-runs.ts';
import type { FailureGroup } from '../../ledger/counts/groups.ts';
import { pickColumns } from '../../report/column.ts';
import { type Html, html } from '../../report/html/html.ts';
import { failureGroupColumns } from '../../report/lists/failures.ts';
import { rejectionColumns } from '../../report/lists/rejected.ts';
import { type DeliveryResultText, deliveryResultColumns } from '../../report/lists/run-results.ts';
import { formatReasonOf, type WithReasonText } from '../../report/reason-text-of.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { runPath } from '../paths.ts';

/** What the service did not accept or deliver, and which contacts were left out, grouped by its words. */
export function failuresPart(
  { failures, results, rejections, head }: LiveRun,
  viewer: Viewer,
): Html | undefined {
  const undelivered = results
    .filter(({ outcome }) => outcome === 'undelivered')
    .map((each) => ({ ...each, result: formatReasonOrNull(each.result) }));
  if (failures.length === 0 && undelivered.length === 0 && rejections.length === 0) return undefined;
  const groupPath = (page: string, group: string) =>
    ({ kind: 'page', path: runPath(head.run, page, { group }) }) as const;
  return html`<section aria-labelledby="failures-title" id="failures">
<h2 id="failures-title">What did not arrive</h2>
${
  failures.length > 0 &&
  listTable(
    {
      caption: 'Requests that were not accepted, in the words of the service',
      columns: pickColumns<WithReasonText<FailureGroup>>(
        failureGroupColumns,
        {
          key: 'reason',
          shown: ({ reason }) => reason ?? 'no words',
          target: ({ group }) => groupPath('failures', group),
        },
        'state',
        'requests',
        'recipients',
      ),
      rows: failures.map((each) => formatReasonOf(each)),
    },
    viewer,
  )
}
${
  undelivered.length > 0 &&
  listTable(
    {
      caption: 'Undelivered, in the words of the delivery reports',
      columns: pickColumns<DeliveryResultText & { readonly group: string }>(
        deliveryResultColumns,
        {
          key: 'result',
          shown: ({ result }) => result ?? 'no words',
          target: ({ group }) => groupPath('undelivered', group),
        },
        'recipients',
      ),
      rows: undelivered,
    },
    viewer,
  )
}
${
  rejections.length > 0 &&
  html`${listTable({ caption: 'Contacts that were left out', columns: rejectionColumns, rows: rejections }, viewer)}
<p><a href="${runPath(head.run, 'rejected')}">All contacts that were left out, with file and line</a></p>`
}
</section>`;
}
