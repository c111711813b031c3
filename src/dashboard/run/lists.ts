import type { FastifyInstance } from 'fastify';
import { formatReason } from '../../domain/reasons.ts';
import {
  type FailedRecipient,
  listFailedRecipients,
  listRejectedContacts,
  listUndelivered,
} from '../../ledger/runs/not-delivered.ts';
import { badge } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { failedRecipientColumns, undeliveredColumns } from '../../report/lists/recipients.ts';
import { leftOutTitle, rejectedColumns } from '../../report/lists/rejected.ts';
import { wordsOf } from '../../report/lists/usual.ts';
import { type Fields, numberIn, textIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import { requireVisibleRun, type View, type Viewer } from '../base/view.ts';
import { cursorText, pagedList, parseCursor, type RecipientCursor } from '../parts/list.ts';
import { runPath } from '../paths.ts';

const rowsPerPage = 100;

/** What did not arrive, recipient by recipient and contact by contact. */
export function addRunLists(server: FastifyInstance): void {
  add(server, 'failures', 'What was not accepted', async (view, run, query) => {
    const group = textIn(query, 'group') || undefined;
    const range = { group, after: parseCursor(textIn(query, 'after')) };
    const found = await listFailedRecipients(view.context.ledger.pool, run, range, rowsPerPage + 1);
    return failedPart({ run, group, found }, view);
  });
  add(server, 'undelivered', 'What was not delivered', async (view, run, query) => {
    const group = textIn(query, 'group') || undefined;
    const range = { group, after: parseCursor(textIn(query, 'after')) };
    const list = {
      caption: 'Undelivered recipients',
      columns: undeliveredColumns,
      found: await listUndelivered(view.context.ledger.pool, run, range, rowsPerPage + 1),
      perPage: rowsPerPage,
      none: html`<p>No recipient of run <code>${run}</code> is undelivered${group !== undefined && ' with these words'}.</p>`,
      next: moreRecipients(run, 'undelivered', group),
    };
    return html`${pagedList(list, view)}
<p><a href="${runPath(run, 'download/contacts', { format: 'csv' })}">The contact files, each row with its result, as CSV</a></p>`;
  });
  add(server, 'rejected', leftOutTitle, async (view, run, query) => {
    const { pool } = view.context.ledger;
    const rows = await listRejectedContacts(pool, run, rowsPerPage + 1, numberIn(query, 'after'));
    const found = rows.map(({ detail, ...contact }) => ({ ...contact, detail: formatReason(detail) }));
    const list = {
      caption: leftOutTitle,
      columns: rejectedColumns(found),
      found,
      perPage: rowsPerPage,
      none: html`<p>No contact was left out of run <code>${run}</code>.</p>`,
      next: ({ row }: { readonly row: number }) => ({
        href: runPath(run, 'rejected', { after: String(row) }),
        text: 'More contacts',
      }),
    };
    return html`${pagedList(list, view)}
<p><a href="${runPath(run, 'download/contacts', { format: 'csv', rejected: 'true' })}">All of them, with their rows as they are in the file, as CSV</a></p>`;
  });
}

function add(
  server: FastifyInstance,
  page: string,
  title: string,
  body: (view: View, run: string, query: Fields) => Promise<Html>,
): void {
  addPage(server, { path: `/runs/:run/${page}`, scope: 'read' }, async (view, asked) => {
    const { run, campaign } = await requireVisibleRun(view, asked);
    return {
      title,
      within: { href: runPath(run), text: campaign },
      body: await body(view, run, asked.query),
    };
  });
}

const moreRecipients = (run: string, page: string, group: string | undefined) => (last: RecipientCursor) => ({
  href: runPath(run, page, { group, after: cursorText(last) }),
  text: 'More recipients',
});

type Failed = {
  readonly run: string;
  /** All groups if undefined. */
  readonly group: string | undefined;
  readonly found: readonly FailedRecipient[];
};

/** The recipients behind a group of failures, each with its row in the contact file. */
export function failedPart({ run, group, found }: Failed, viewer: Viewer): Html {
  const [first] = found;
  const words = first && html`<p>${badge(first.state)} <q dir="auto">${wordsOf(first.reason)}</q></p>`;
  const list = {
    caption: 'Recipients',
    columns: failedRecipientColumns.filter(({ key }) => group === undefined || key !== 'reason'),
    found,
    perPage: rowsPerPage,
    none: html`<p>No recipient of run <code>${run}</code> failed in this way.</p>`,
    next: moreRecipients(run, 'failures', group),
  };
  return html`${group !== undefined && words}
${pagedList(list, viewer)}
<p><a href="${runPath(run, 'download/failures', { format: 'csv' })}">All requests that were not accepted, as CSV</a></p>`;
}
