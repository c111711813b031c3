import type { UndeliveredRecipient } from '../../ledger/runs/undelivered.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { Viewer } from '../base/view.ts';
import { shortened, table, time } from '../parts/parts.ts';
import { runPath } from '../paths.ts';
import { rowsPerPage } from './failed-rows.ts';
import { contactColumns, requestColumns } from './recipient-columns.ts';

type UndeliveredRows = {
  readonly run: string;
  /** All results if undefined. */
  readonly group: string | undefined;
  /** One more than a page has: then there is another page. */
  readonly rows: readonly UndeliveredRecipient[];
};

/** The recipients that delivery reports call undelivered, each with its row in the contact file. */
export function undeliveredRowsPart({ run, group, rows }: UndeliveredRows, { zone }: Viewer): Html {
  const shown = rows.slice(0, rowsPerPage);
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  const ofGroup = group === undefined ? {} : { group };
  if (shown.length === 0)
    return html`<p>No recipient of run <code>${run}</code> is undelivered${group !== undefined && ' with these words'}.</p>`;
  return html`${table<UndeliveredRecipient>(
    `Undelivered recipients (${zone})`,
    [
      ...contactColumns,
      { title: 'Result', isLong: true, cell: ({ result }) => shortened(result ?? 'no words') },
      { title: 'Reported', cell: ({ at }) => time(at, zone) },
      ...requestColumns,
    ],
    shown,
  )}
${
  last &&
  html`<p><a rel="next" href="${runPath(run, 'undelivered', { ...ofGroup, after: `${last.request}-${last.position}` })}">More recipients</a></p>`
}
<p><a href="${runPath(run, 'download/contacts', { format: 'csv' })}">The contact files, each row with its result, as CSV</a></p>`;
}
