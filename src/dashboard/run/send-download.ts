import type { FastifyReply } from 'fastify';
import { fixableReasons } from '../../domain/contacts.ts';
import type { EngineContext } from '../../engine/context.ts';
import { reportContacts } from '../../engine/reporting/contact-report.ts';
import { readRunReport } from '../../engine/reporting/read-run-report.ts';
import { reportFailures, reportMissing } from '../../engine/reporting/streamed-reports.ts';
import { contactSheet, type ReportedState, reportedStates } from '../../report/contact-sheet.ts';
import { missingColumns } from '../../report/delivery-reports.ts';
import { failureSheet } from '../../report/failure-sheet.ts';
import { formatRunReport } from '../../report/format-run-report.ts';
import { toRunDetails } from '../../report/run-details.ts';
import { sendPieces, sendSheet } from '../../server/api/send-report.ts';
import { downloads, type Format, type Report } from './downloads.ts';

export type Download = {
  readonly run: string;
  readonly report: Report;
  readonly format: Format;
  /** Of contacts: only those that were left out and can be corrected. */
  readonly onlyRejected: boolean;
};

/** @returns undefined if there is no such report, or not in this format */
export function parseDownload(
  run: string,
  report: string | undefined,
  format: string | undefined,
  rejected: string | undefined,
): Download | undefined {
  const known = downloads.find((each) => each.report === report);
  const chosen = known?.formats.find((each) => each === format);
  if (!known || !chosen) return undefined;
  return { run, report: known.report, format: chosen, onlyRejected: rejected === 'true' };
}

/**
 * Streams a report, as the API and the command line do.
 *
 * @param zone of times in pages
 * @throws InputError if the run has no such report, because it was purged or is a test
 */
export async function sendDownload(
  context: EngineContext,
  reply: FastifyReply,
  { run, report, format, onlyRejected }: Download,
  zone: string,
): Promise<void> {
  const asOf = context.now();
  const file = { name: `${report}-${run}`, format };
  switch (report) {
    case 'run': {
      const details = await readRunReport(context, run, zone, (found) => toRunDetails(found, zone));
      return sendPieces(reply, file, formatRunReport(details, wholeFormat(format), asOf));
    }
    case 'contacts': {
      const states = new Set<ReportedState>(onlyRejected ? fixableReasons : reportedStates);
      return reportContacts(context, run, (found) =>
        sendSheet(reply, file, contactSheet(run, found, states, asOf)),
      );
    }
    case 'failures':
      return sendSheet(reply, file, failureSheet(await reportFailures(context, run), asOf));
    case 'missing':
      return reportMissing(context, { run, until: asOf }, (rows) => {
        const title = 'Missing delivery reports';
        return sendSheet(reply, file, {
          title,
          subtitle: [`run ${run}`],
          asOf,
          columns: missingColumns,
          rows,
        });
      });
  }
}

/** A report with several tables has no CSV and NDJSON; `parseDownload` refuses them. */
function wholeFormat(format: Format): 'html' | 'xlsx' | 'json' {
  return format === 'csv' || format === 'ndjson' ? 'json' : format;
}
