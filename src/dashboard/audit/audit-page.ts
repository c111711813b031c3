import type { z } from 'zod';
import { readAudit } from '../../engine/audit.ts';
import { type AuditEntry, listAudit } from '../../ledger/audit/audit.ts';
import { pickColumns } from '../../report/column.ts';
import { longText } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { auditColumns, auditSheet, interfaceWords, shownDetails } from '../../report/lists/audit.ts';
import { auditQuestion, describeAsked, toAuditFilter } from '../../report/questions.ts';
import { sendSheet } from '../../server/api/send-report.ts';
import { problemList } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import type { View } from '../base/view.ts';
import { filterForm, firstPage, readAsked } from '../parts/filter.ts';
import { downloadLinks, pagedList } from '../parts/list.ts';
import { pathWith, runPath } from '../paths.ts';

const entriesPerPage = 100;

const filter = { ...auditQuestion, path: '/audit', title: 'Find entries', cursor: 'before' } as const;

const labels: Readonly<Record<string, string>> = filter.labels;

/** Who did what, and when. For persons who see all accounts. */
export function addAuditPage({ addPage, addDownload, limits }: Tools): void {
  const access = { scope: 'admin', allAccounts: true } as const;
  addPage({ path: '/audit', ...access }, async (view, { query }) => {
    const { asked, problems: ofFields } = readAsked(filter, query);
    const problems = Object.entries(ofFields).map(([name, problem]) => `${labels[name] ?? name}: ${problem}`);
    const answer =
      problems.length > 0 ? problemList('Nothing was searched', problems) : await entriesPart(view, asked);
    return { title: 'Audit trail', body: html`${filterForm(filter, query)}${answer}` };
  });
  addDownload({ path: '/audit/download', ...access }, async (view, { query }, format) => {
    const { asked } = readAsked(filter, query);
    const entries = readAudit(view.context, toAuditFilter(asked, view.zone));
    const sheet = auditSheet(entries, describeAsked(asked), view.now);
    return { limit: limits.list, send: (reply) => sendSheet(reply, { name: 'audit', format }, sheet) };
  });
}

async function entriesPart(view: View, asked: z.output<typeof filter.schema>): Promise<Html> {
  const { pool } = view.context.ledger;
  const list = {
    caption: 'Entries, the newest first',
    columns,
    found: await listAudit(pool, toAuditFilter(asked, view.zone), entriesPerPage + 1),
    perPage: entriesPerPage,
    id: 'entries',
    none: html`<p class="empty">No entry is like that. Leave fields empty to see more.</p>`,
    first: firstPage(filter, asked, 'Newest entries'),
    next: ({ entry }: AuditEntry) => ({
      href: pathWith('/audit', { ...asked, before: entry }),
      text: 'Older entries',
    }),
  };
  return html`${pagedList(list, view)}
${downloadLinks((format) => pathWith('/audit/download', { ...asked, before: '', format }))}`;
}

const columns = pickColumns(
  auditColumns,
  'entry',
  'at',
  {
    key: 'who',
    target: ({ who }) => ({ kind: 'page', path: pathWith('/audit', { who }) }),
    note: ({ how, token }) => `${interfaceWords[how]}${token === null ? '' : `, token ${token}`}`,
  },
  'action',
  'outcome',
  { key: 'run', cell: runCell },
  'subject',
  { key: 'details', cell: detailsCell },
);

function runCell({ run }: AuditEntry): Html | undefined {
  if (run === null) return undefined;
  return html`<a href="${runPath(run)}">${run}</a> <a href="${pathWith('/audit', { run })}" aria-label="its entries: run ${run}">its entries</a>`;
}

function detailsCell({ entry, details }: AuditEntry): Html | undefined {
  const shown = shownDetails(details);
  if (shown.length === 0) return undefined;
  const items = shown.map(
    ({ name, value }) =>
      html`<div><dt>${name}</dt><dd>${longText(value, `detail-${entry}-${name}`)}</dd></div>`,
  );
  return html`<dl class="details">${items}</dl>`;
}
