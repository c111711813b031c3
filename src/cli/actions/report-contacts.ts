import { fixableReasons, type RejectionReason, rejectionReasons } from '../../domain/contacts.ts';
import { reportContacts } from '../../engine/reporting/contact-report.ts';
import type { Encoding } from '../../platform/encodings.ts';
import { contactSheet, countStates, type ReportedState, reportedStates } from '../../report/contact-sheet.ts';
import type { CsvForm } from '../../report/formats/sheet.ts';
import { chooseRun } from '../choose-run.ts';
import type { ReportOptions } from '../report-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';
import { sheetWriter } from '../write-report.ts';

export type ContactsOptions = ReportOptions & {
  readonly rejected?: true;
  readonly reasons?: readonly RejectionReason[];
  readonly state?: readonly ReportedState[];
  readonly delimiter?: string;
  readonly encoding?: Encoding;
};

export async function contactsAction(
  shell: Shell,
  name: string,
  { rejected, reasons, state, delimiter, encoding, ...options }: ContactsOptions,
): Promise<void> {
  const write = sheetWriter(shell, options, 'csv');
  const exported = reasons ?? (rejected ? fixableReasons : undefined);
  const states = new Set<ReportedState>(exported ?? state ?? reportedStates);
  const tally = countStates();
  await withLedgerToRead(shell, async (context) => {
    // A test keeps no contact files.
    const run = await chooseRun(shell, context, name, { kind: 'ordinary' });
    await reportContacts(context, run, (report) => {
      const rows = tally.count(report.rows);
      const csv = csvForm(
        report.csv,
        { delimiter, encoding },
        shell.resultTerminal && options.out === undefined,
      );
      return write(contactSheet(run, { ...report, rows, csv }, states, shell.now()));
    });
  });
  if (exported) shell.note(exportText(exported, tally.counts));
}

/** As the contact file, unless the user asks otherwise. A terminal shows UTF-8 only. */
function csvForm(
  read: CsvForm | undefined,
  {
    delimiter,
    encoding,
  }: { readonly delimiter: string | undefined; readonly encoding: Encoding | undefined },
  onScreen: boolean,
): CsvForm {
  const found = read ?? { encoding: 'utf-8', byteOrderMark: false, delimiter: ',' };
  const chosen = onScreen ? 'utf-8' : (encoding ?? found.encoding);
  return {
    encoding: chosen,
    byteOrderMark: !onScreen && (chosen === found.encoding ? found.byteOrderMark : chosen !== 'utf-8'),
    delimiter: delimiter ?? found.delimiter,
  };
}

function exportText(
  exported: readonly RejectionReason[],
  counts: ReadonlyMap<ReportedState, number>,
): string {
  const listed = (reasons: readonly RejectionReason[]): string =>
    reasons.map((reason) => `${counts.get(reason) ?? 0} ${reason}`).join(', ');
  const others = rejectionReasons.filter((reason) => !exported.includes(reason) && counts.has(reason));
  const not = others.length > 0 ? ` Not exported: ${listed(others)} (--reasons selects reasons).` : '';
  return `Rejected contacts: ${listed(exported)}.${not}`;
}
