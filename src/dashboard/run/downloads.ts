import type { FastifyInstance, FastifyReply } from 'fastify';
import { fixableReasons } from '../../domain/contacts.ts';
import type { ListedRun } from '../../ledger/runs/find.ts';
import { type Html, html } from '../../report/html/html.ts';
import { notAcceptedTitle } from '../../report/lists/failures.ts';
import { type ReportedState, reportedStates } from '../../report/run/contact-sheet.ts';
import type { CallLimits } from '../../server/api/call-limits.ts';
import {
  httpFormats,
  type RunReport,
  runFormats,
  sendMissing,
  sendRunReport,
} from '../../server/api/send-report.ts';
import { textIn } from '../base/fields.ts';
import { addDownload } from '../base/pages.ts';
import { requireVisibleRun } from '../base/view.ts';
import { runPath } from '../paths.ts';

/** The reports about one run, with the formats of each. */
export const downloads = [
  { report: 'run', name: 'The run in full', formats: runFormats },
  { report: 'contacts', name: 'The contact files, each row with its result', formats: httpFormats },
  { report: 'failures', name: notAcceptedTitle, formats: httpFormats },
  { report: 'missing', name: 'Recipients without a delivery report', formats: httpFormats },
] as const;

/** Links to the reports about a run. A test and a purged run have no contact files. */
export function downloadsPart({ run, kind, purgedAt }: ListedRun): Html {
  const offered = downloads.filter(
    ({ report }) => report !== 'contacts' || (kind !== 'test' && purgedAt === null),
  );
  return html`<section aria-labelledby="downloads">
<h2 id="downloads">Downloads</h2>
<ul class="downloads">${offered.map(
    ({ report, name, formats: offeredFormats }) => html`<li><span>${name}</span> ${offeredFormats.map(
      (format) =>
        html`<a href="${runPath(run, `download/${report}`, { format })}" aria-label="${name}, as ${format}">${format}</a> `,
    )}</li>
`,
  )}</ul>
</section>`;
}

/** The files behind those links. With `rejected=true`, contacts are only those that were left out and can be corrected. */
export function addRunDownloads(server: FastifyInstance, limits: CallLimits): void {
  const where = { path: '/runs/:run/download/:report', scope: 'read' } as const;
  addDownload(server, where, async (view, asked, format) => {
    const { run } = await requireVisibleRun(view, asked);
    const { context, zone } = view;
    const send = (report: RunReport) => (reply: FastifyReply) => sendRunReport(context, reply, report);
    switch (asked.params['report']) {
      case 'run': {
        const whole = runFormats.find((each) => each === format);
        return whole && { limit: limits.report, send: send({ run, report: 'run', format: whole, zone }) };
      }
      case 'contacts': {
        const isRejected = textIn(asked.query, 'rejected') === 'true';
        const states = new Set<ReportedState>(isRejected ? fixableReasons : reportedStates);
        const contacts = { run, report: 'contacts', format, states, asContactFile: true } as const;
        return { limit: limits.report, send: send(contacts) };
      }
      case 'failures':
        return { limit: limits.list, send: send({ run, report: 'failures', format }) };
      case 'missing':
        return { limit: limits.report, send: (reply) => sendMissing(context, reply, { run, format }) };
      default:
        return undefined;
    }
  });
}
