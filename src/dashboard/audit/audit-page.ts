import type { FastifyInstance } from 'fastify';
import { auditActions, auditOutcomes } from '../../domain/access.ts';
import { InputError } from '../../domain/problems.ts';
import { readAudit } from '../../engine/audit.ts';
import { type AuditEntry, type AuditFilter, listAudit } from '../../ledger/audit/audit.ts';
import { pickColumns } from '../../report/column.ts';
import { longText } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { auditColumns, auditSheet, shownDetails } from '../../report/lists/audit.ts';
import { sendSheet } from '../../server/api/send-report.ts';
import { textIn } from '../base/fields.ts';
import { problemList } from '../base/layout.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import { askedOf, requireAllAccounts, requireScope, type View, viewOf } from '../base/view.ts';
import { downloadLinks, isFormat } from '../parts/downloads.ts';
import {
  type Asked,
  describeAsked,
  type Filter,
  filterForm,
  firstPage,
  periodOf,
  readAsked,
} from '../parts/filter.ts';
import { pagedList } from '../parts/list.ts';
import { pathWith, runPath } from '../paths.ts';

const entriesPerPage = 100;

const filter: Filter = {
  path: '/audit',
  title: 'Find entries',
  place: 'before',
  fields: [
    { name: 'run', label: 'Run', kind: 'text' },
    { name: 'who', label: 'Actor', kind: 'text' },
    { name: 'token', label: 'Token', kind: 'text' },
    { name: 'action', label: 'Action', kind: 'choice', values: auditActions },
    { name: 'outcome', label: 'Outcome', kind: 'choice', values: auditOutcomes },
    { name: 'since', label: 'From', kind: 'day' },
    { name: 'until', label: 'Until', kind: 'day' },
  ],
};

/** Who did what, and when. For persons who see all accounts. */
export function addAuditPage(server: FastifyInstance, { limits }: Tools): void {
  addPage(server, { path: '/audit', scope: 'admin' }, async (view, { query }) => {
    requireAllAccounts(view);
    const asked = readAsked(filter, query);
    return {
      title: 'Audit trail',
      body: html`${filterForm(filter, asked)}${await answerPart(view, asked)}`,
    };
  });
  server.get('/audit/download', async (request, reply) => {
    const view = viewOf(request);
    requireScope(view, 'admin');
    requireAllAccounts(view);
    const { query } = askedOf(request);
    const format = textIn(query, 'format');
    if (!isFormat(format)) return reply.redirect('/audit');
    const asked = readAsked(filter, query);
    const sheet = auditSheet(
      readAudit(view.context, toAuditFilter(asked, view.zone)),
      describeAsked(filter, asked),
      view.now,
    );
    await limits.list(reply, view.session.name, () => sendSheet(reply, { name: 'audit', format }, sheet));
    return reply;
  });
}

/** @throws InputError for a date that is none */
function toAuditFilter(asked: Asked, zone: string): AuditFilter {
  const { run, who, token, before = '' } = asked;
  const period = periodOf(asked, ['since', 'until'], zone);
  return {
    run,
    who,
    token,
    action: auditActions.find((action) => action === asked['action']),
    outcome: auditOutcomes.find((outcome) => outcome === asked['outcome']),
    since: period.from,
    until: period.before,
    before: /^\d{1,18}$/.test(before) ? before : undefined,
  };
}

async function answerPart(view: View, asked: Asked): Promise<Html> {
  try {
    const { pool } = view.context.ledger;
    const found = await listAudit(pool, toAuditFilter(asked, view.zone), entriesPerPage + 1);
    return html`${pagedList(
      {
        caption: 'Entries, the newest first',
        columns,
        found,
        perPage: entriesPerPage,
        id: 'entries',
        none: html`<p class="empty">No entry is like that. Leave fields empty to see more.</p>`,
        first: firstPage(filter, asked, 'Newest entries'),
        next: ({ entry }) => ({
          href: pathWith('/audit', { ...asked, before: entry }),
          text: 'Older entries',
        }),
      },
      view,
    )}
${downloadLinks((format) => pathWith('/audit/download', { ...asked, before: '', format }))}`;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return problemList(
      'Nothing was searched',
      error.problems.map(({ where, what }) => `${where}: ${what}`),
    );
  }
}

const interfaceWords = {
  cli: 'on the command line',
  api: 'over the API',
  dashboard: 'in the dashboard',
  schedule: 'by schedule',
} as const;

const columns = pickColumns<AuditEntry>(
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
