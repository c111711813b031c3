import type { FastifyReply } from 'fastify';
import { fixableReasons } from '../../domain/contacts.ts';
import type { EngineContext } from '../../engine/context.ts';
import { reportMissing } from '../../engine/reporting/streamed-reports.ts';
import { type ReportedState, reportedStates } from '../../report/contact-sheet.ts';
import { missingSheet } from '../../report/lists/delivery-reports.ts';
import { type HttpFormat, sendSheet } from '../../server/api/send-report.ts';
import { type RunReport, runFormats, sendRunReport } from '../../server/api/send-run-report.ts';
import { isFormat } from '../parts/downloads.ts';

type Missing = { readonly run: string; readonly report: 'missing'; readonly format: HttpFormat };

export type Download = RunReport | Missing;

type Asked = {
  readonly run: string;
  readonly report: string | undefined;
  readonly format: string;
  /** `true`: of contacts only those that were left out and can be corrected. */
  readonly rejected: string;
  /** Of times in pages. */
  readonly zone: string;
};

/** @returns undefined if there is no such report, or not in this format */
export function parseDownload({ run, report, format, rejected, zone }: Asked): Download | undefined {
  if (!isFormat(format)) return undefined;
  switch (report) {
    case 'run': {
      const whole = runFormats.find((each) => each === format);
      return whole && { run, report, format: whole, zone };
    }
    case 'contacts': {
      const states = new Set<ReportedState>(rejected === 'true' ? fixableReasons : reportedStates);
      return { run, report, format, states, asContactFile: true };
    }
    case 'failures':
    case 'missing':
      return { run, report, format };
    default:
      return undefined;
  }
}

/** @throws InputError as `sendRunReport` does */
export async function sendDownload(
  context: EngineContext,
  reply: FastifyReply,
  download: Download,
): Promise<void> {
  if (download.report !== 'missing') return sendRunReport(context, reply, download);
  const { run, format } = download;
  const asOf = context.now();
  return reportMissing(context, { run, until: asOf }, (rows) =>
    sendSheet(reply, { name: `missing-${run}`, format }, missingSheet(rows, `run ${run}`, asOf)),
  );
}
