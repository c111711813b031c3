import type { PlacedContact } from '../../ledger/runs/rejected-contacts.ts';
import { formatReason } from '../../platform/reason-text.ts';
import { type Html, html } from '../../report/html/html.ts';
import { badge, shortened, table } from '../parts/parts.ts';
import { runPath } from '../paths.ts';

export const contactsPerPage = 100;

/** @param rows one more than a page has, if there is another page */
export function rejectedRowsPart(run: string, rows: readonly PlacedContact[]): Html {
  const shown = rows.slice(0, contactsPerPage);
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  if (shown.length === 0) return html`<p>No contact was left out of run <code>${run}</code>.</p>`;
  return html`${table<PlacedContact>(
    'Contacts that were left out',
    [
      { title: 'File', cell: ({ file }) => file },
      { title: 'Line', isNumber: true, cell: ({ line }) => line },
      { title: 'Column', cell: ({ column }) => column },
      { title: 'Why', cell: ({ reason }) => badge(reason) },
      { title: 'Detail', isLong: true, cell: ({ detail }) => shortened(formatReason(detail)) },
    ],
    shown,
  )}
${last && html`<p><a rel="next" href="${runPath(run, 'rejected', { after: String(last.row) })}">More contacts</a></p>`}
<p><a href="${runPath(run, 'download/contacts', { format: 'csv', rejected: 'true' })}">All of them, with their rows as they are in the file, as CSV</a></p>`;
}
