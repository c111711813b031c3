import type { FastifyReply } from 'fastify';
import type { EngineContext } from '../../engine/context.ts';
import { reportContacts } from '../../engine/reporting/contact-report.ts';
import { readRunReport } from '../../engine/reporting/read-run-report.ts';
import { reportFailures } from '../../engine/reporting/streamed-reports.ts';
import { contactSheet, type ReportedState } from '../../report/contact-sheet.ts';
import { formatRunReport } from '../../report/format-run-report.ts';
import { failureSheet } from '../../report/lists/failures.ts';
import { toRunDetails } from '../../report/run-details.ts';
import { type HttpFormat, sendPieces, sendSheet } from './send-report.ts';

/** A report with several tables has no CSV and NDJSON. */
export const runFormats = ['json', 'xlsx', 'html'] as const satisfies HttpFormat[];
type RunFormat = (typeof runFormats)[number];

/** A report about one run. */
export type RunReport = { readonly run: string } & (
  | { readonly report: 'run'; readonly format: RunFormat; readonly zone: string }
  | {
      readonly report: 'contacts';
      readonly format: HttpFormat;
      readonly states: ReadonlySet<ReportedState>;
      /** Whether a CSV file is written as the contact file is, and not as UTF-8 with commas. */
      readonly asContactFile: boolean;
    }
  | { readonly report: 'failures'; readonly format: HttpFormat }
);

/**
 * Streams the report, as the API and the pages do.
 *
 * @throws InputError if the run has no such report, because it was purged or is a test
 */
export async function sendRunReport(
  context: EngineContext,
  reply: FastifyReply,
  asked: RunReport,
): Promise<void> {
  const { run } = asked;
  const asOf = context.now();
  const file = { name: `${asked.report}-${run}`, format: asked.format };
  switch (asked.report) {
    case 'run': {
      const { zone, format } = asked;
      const details = await readRunReport(context, run, zone, (found) => toRunDetails(found, zone));
      return sendPieces(reply, file, formatRunReport(details, format, asOf));
    }
    case 'contacts': {
      const { states, asContactFile } = asked;
      return reportContacts(context, run, (found) => {
        const rows = asContactFile ? found : { ...found, csv: undefined };
        return sendSheet(reply, file, contactSheet(run, rows, states, asOf));
      });
    }
    case 'failures':
      return sendSheet(reply, file, failureSheet(await reportFailures(context, run), asOf));
  }
}
