import type { PersonReport } from '../../engine/recipient-data/person-report.ts';
import { pickColumns } from '../../report/column.ts';
import { auditColumns } from '../../report/lists/audit.ts';
import { deliveryReportColumns } from '../../report/lists/delivery-reports.ts';
import { suppressionColumns } from '../../report/lists/suppressions.ts';
import { printable } from '../../report/printable.ts';
import { type FormattedHistory, formatRecipientHistory } from '../../report/recipient-history.ts';
import type { Screen } from '../../report/screen.ts';
import { formatTable } from '../../report/table.ts';

/** With reasons in words. */
type FormattedPerson = Omit<PersonReport, 'recipients'> & {
  readonly recipients: readonly (FormattedHistory & Pick<PersonReport['recipients'][number], 'message'>)[];
};

const personAuditColumns = pickColumns(auditColumns, 'at', 'who', 'action', 'run', 'outcome', 'details');

/** Each kind of data under its title, also when there is none. */
export function formatPerson(person: FormattedPerson, screen?: Screen): string {
  const { contactRows, recipients, unmatchedReports, suppressions, audit } = person;
  const sections: readonly (readonly [title: string, texts: readonly string[]])[] = [
    ['Rows of contact files', contactRows.map(rowText)],
    ['Messages', recipients.map((recipient) => recipientText(recipient, screen))],
    [
      'Delivery reports and replies of no known message',
      unmatchedReports.length > 0 ? [formatTable(deliveryReportColumns, unmatchedReports, screen)] : [],
    ],
    ['Suppressions', suppressions.length > 0 ? [formatTable(suppressionColumns, suppressions, screen)] : []],
    ['Audit trail of these runs', audit.length > 0 ? [formatTable(personAuditColumns, audit, screen)] : []],
  ];
  return [
    `Everything known of ${printable(person.address)}`,
    ...sections.map(([title, texts]) => [title, ...(texts.length > 0 ? texts : ['none'])].join('\n')),
  ].join('\n\n');
}

function rowText({ run, file, line, values, text }: FormattedPerson['contactRows'][number]): string {
  const cells = values ? Object.entries(values).map(([name, value]) => `${name}: ${value}`) : [text];
  return printable(`  run ${run}, ${file} line ${line}: ${cells.join('; ')}`);
}

function recipientText(
  { message, ...history }: FormattedPerson['recipients'][number],
  screen: Screen | undefined,
): string {
  const values = [
    ...Object.entries(message?.fields ?? {}),
    ...Object.entries(message?.destination ?? {}),
    ...(message?.files ?? []).map(({ name }) => ['File', name] as const),
  ];
  const texts = values.map(([name, value]) => printable(`  ${name}: ${value}`));
  return [formatRecipientHistory(history, screen), ...texts].join('\n');
}
