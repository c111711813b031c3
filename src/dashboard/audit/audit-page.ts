import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import { readAudit } from '../../engine/audit.ts';
import { type AuditEntry, listAudit } from '../../ledger/audit/audit.ts';
import { auditSheet, shownDetails } from '../../report/audit-sheet.ts';
import { type Html, html } from '../../report/html/html.ts';
import { sendSheet } from '../../server/api/send-report.ts';
import { type Fields, textIn } from '../base/fields.ts';
import { problemList } from '../base/layout.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import { askedOf, requireAllAccounts, requireScope, type View, type Viewer, viewOf } from '../base/view.ts';
import { downloadLinks, isFormat } from '../parts/downloads.ts';
import { longText } from '../parts/long-text.ts';
import { badge, table, time } from '../parts/parts.ts';
import { runPath } from '../paths.ts';
import { addressOf, describeFilter, filterForm, filterOf } from './audit-filter.ts';

const entriesPerPage = 100;

/** Who did what, and when. For persons who see all accounts. */
export function addAuditPage(server: FastifyInstance, { limits }: Tools): void {
  addPage(server, { path: '/audit', scope: 'admin' }, async (view, { query }) => {
    requireAllAccounts(view);
    return {
      title: 'Audit trail',
      body: html`${filterForm(query, view.zone)}${await answerPart(view, query)}`,
    };
  });
  server.get('/audit/download', async (request, reply) => {
    const view = viewOf(request);
    requireScope(view, 'admin');
    requireAllAccounts(view);
    const { query } = askedOf(request);
    const format = textIn(query, 'format');
    if (!isFormat(format)) return reply.redirect('/audit');
    const entries = readAudit(view.context, filterOf(query, view.zone));
    const sheet = auditSheet(entries, describeFilter(query), view.now);
    await limits.list(reply, view.session.name, () => sendSheet(reply, { name: 'audit', format }, sheet));
    return reply;
  });
}

async function answerPart(view: View, query: Fields): Promise<Html> {
  try {
    const filter = filterOf(query, view.zone);
    const entries = await listAudit(view.context.ledger.pool, filter, entriesPerPage + 1);
    return html`${entries.length === 0 ? html`<p class="empty">No entry is like that. Leave fields empty to see more.</p>` : entryTable(entries.slice(0, entriesPerPage), view)}
${pager(query, entries)}
${downloadLinks((format) => addressOf('/audit/download', query, { before: '', format }))}`;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return problemList(
      'Nothing was searched',
      error.problems.map(({ where, what }) => `${where}: ${what}`),
    );
  }
}

function entryTable(entries: readonly AuditEntry[], { zone }: Viewer): Html {
  return table<AuditEntry>(
    'Entries, the newest first',
    [
      { title: 'Entry', isNumber: true, cell: ({ entry }) => entry },
      { title: `At (${zone})`, cell: ({ at }) => time(at, zone) },
      { title: 'Who', cell: whoCell },
      { title: 'Action', cell: ({ action, outcome }) => html`${action} ${badge(outcome)}` },
      { title: 'Of', cell: subjectCell },
      { title: 'Details', cell: detailsCell },
    ],
    entries,
    'entries',
  );
}

const interfaceWords = {
  cli: 'on the command line',
  api: 'over the API',
  dashboard: 'in the dashboard',
  schedule: 'by schedule',
} as const;

function whoCell({ who, how, token }: AuditEntry): Html {
  return html`<a href="${addressOf('/audit', {}, { who })}">${who}</a><br><small>${interfaceWords[how]}${token !== null && html`, token <bdi>${token}</bdi>`}</small>`;
}

function subjectCell({ run, subject }: AuditEntry): Html {
  return html`${run !== null && html`<a href="${runPath(run)}">${run}</a> <a href="${addressOf('/audit', {}, { run })}" aria-label="its entries: run ${run}">its entries</a>`}${subject !== null && html` <bdi>${subject}</bdi>`}`;
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

function pager(query: Fields, entries: readonly AuditEntry[]): Html | undefined {
  const last = entries.length > entriesPerPage ? entries[entriesPerPage - 1] : undefined;
  const isLater = textIn(query, 'before') !== '';
  if (!last && !isLater) return undefined;
  return html`<nav class="pager" aria-label="Pages">
${isLater && html`<a href="${addressOf('/audit', query, { before: '' })}">Newest entries</a>`}
${last && html`<a rel="next" href="${addressOf('/audit', query, { before: last.entry })}">Older entries</a>`}
</nav>`;
}
