import type { FastifyInstance, FastifyReply } from 'fastify';
import { recipientStates } from '../../domain/runs.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import { streamRecipients } from '../../ledger/runs/list-recipients.ts';
import { hasVariants } from '../../ledger/watch/variant-results.ts';
import { type Html, html } from '../../report/html/html.ts';
import { notAcceptedTitle } from '../../report/lists/failures.ts';
import { recipientSheet } from '../../report/lists/recipients.ts';
import { type ReportedState, reportedStates } from '../../report/run/contact-sheet.ts';
import type { CallLimits } from '../../server/api/call-limits.ts';
import { type RunReport, runFormats, sendRunReport, sendSheet } from '../../server/api/send-report.ts';
import { addDownload } from '../base/pages.ts';
import { requireVisibleRun } from '../base/view.ts';
import { section } from '../parts/parts.ts';
import { runPath } from '../paths.ts';
import { readAskedContacts } from './asked-contacts.ts';

/** The reports about one run that its page offers. Their addresses take other formats too. */
export const downloads = [
  { report: 'run', name: 'The run in full, as a workbook', format: 'xlsx' },
  { report: 'contacts', name: 'The contact files, each row with its result, as CSV', format: 'csv' },
  { report: 'failures', name: `${notAcceptedTitle}, as CSV`, format: 'csv' },
] as const;

/** Links to the reports about a run. A test and a purged run have no contact files. */
export function downloadsPart({ run, kind, purgedAt }: ListedRun): Html {
  const offered = downloads.filter(
    ({ report }) => report !== 'contacts' || (kind !== 'test' && purgedAt === null),
  );
  const links = offered.map(
    ({ report, name, format }) =>
      html`<li><a href="${runPath(run, `download/${report}`, { format })}">${name}</a></li>`,
  );
  return section('downloads', 'Downloads', html`<ul>${links}</ul>`);
}

/** The files behind those links, and behind the lists of recipients. */
export function addRunDownloads(server: FastifyInstance, limits: CallLimits): void {
  const where = { path: '/runs/:run/download/:report', scope: 'read' } as const;
  addDownload(server, where, async (view, { params, query }, format) => {
    const { run } = await requireVisibleRun(view, { params, query });
    const { context, zone } = view;
    const { state, cause, states } = readAskedContacts(query);
    const send = (report: RunReport) => (reply: FastifyReply) => sendRunReport(context, reply, report);
    switch (params['report']) {
      case 'run': {
        const whole = runFormats.find((each) => each === format);
        return whole && { limit: limits.report, send: send({ run, report: 'run', format: whole, zone }) };
      }
      case 'contacts': {
        const chosen = new Set<ReportedState>(state === undefined ? reportedStates : states);
        const contacts = { run, report: 'contacts', format, states: chosen, asContactFile: true } as const;
        return { limit: limits.report, send: send(contacts) };
      }
      case 'failures':
        return { limit: limits.list, send: send({ run, report: 'failures', format }) };
      case 'recipients': {
        const wanted = { run, states: recipientStates.filter((each) => states.includes(each)), group: cause };
        if (wanted.states.length === 0) return undefined;
        const found = {
          hasVariants: await hasVariants(context.ledger.pool, run),
          asOf: { at: context.now() },
        };
        const list = { run, which: state ?? 'all', ...found };
        const sheet = recipientSheet({ ...list, rows: streamRecipients(context.ledger.pool, wanted) });
        const file = { name: `recipients-${run}`, format };
        return { limit: limits.list, send: (reply) => sendSheet(reply, file, sheet) };
      }
      default:
        return undefined;
    }
  });
}
