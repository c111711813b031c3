import type { FailedRecipient } from '../../ledger/runs/failure-groups.ts';
import { formatReasonOrNull } from '../../platform/reason-text.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { Viewer } from '../base/view.ts';
import { badge, table, time } from '../parts/parts.ts';
import { runPath } from '../paths.ts';
import { contactColumns, requestColumns } from './recipient-columns.ts';

export const rowsPerPage = 100;

type FailedRows = {
  readonly run: string;
  /** All groups if undefined. */
  readonly group: string | undefined;
  /** One more than a page has: then there is another page. */
  readonly rows: readonly FailedRecipient[];
};

/** The recipients behind a group of failures, each with its row in the contact file. */
export function failedRowsPart({ run, group, rows }: FailedRows, { zone }: Viewer): Html {
  const shown = rows.slice(0, rowsPerPage);
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  const ofGroup = group === undefined ? {} : { group };
  if (shown.length === 0) return html`<p>No recipient of run <code>${run}</code> failed in this way.</p>`;
  return html`${group !== undefined && html`<p>${words(shown[0])}</p>`}
${table<FailedRecipient>(
  `Recipients (${zone})`,
  [
    ...contactColumns,
    { title: 'State', cell: ({ state }) => badge(state) },
    ...(group === undefined
      ? [
          {
            title: 'Words',
            isLong: true,
            cell: ({ reason }: FailedRecipient) => formatReasonOrNull(reason) ?? '',
          },
        ]
      : []),
    ...requestColumns,
    { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
    { title: 'At', cell: ({ at }) => at && time(at, zone) },
  ],
  shown,
)}
${
  last &&
  html`<p><a rel="next" href="${runPath(run, 'failures', { ...ofGroup, after: `${last.request}-${last.position}` })}">More recipients</a></p>`
}
<p><a href="${runPath(run, 'download/failures', { format: 'csv' })}">All requests that were not accepted, as CSV</a></p>`;
}

function words(row: FailedRecipient | undefined): Html | undefined {
  if (!row) return undefined;
  return html`${badge(row.state)} <q dir="auto">${formatReasonOrNull(row.reason) ?? 'no words'}</q>`;
}

/** `12-3`: after the third recipient of request 12. */
export function parseAfter(
  text: string | undefined,
): Pick<FailedRecipient, 'request' | 'position'> | undefined {
  const [, request, position] = /^(\d{1,9})-(\d{1,9})$/.exec(text ?? '') ?? [];
  return request === undefined ? undefined : { request: Number(request), position: Number(position) };
}
