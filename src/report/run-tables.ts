import { rejectionReasons } from '../domain/contacts.ts';
import { recipientStates, requestStates } from '../domain/runs.ts';
import { formatPayer } from './billing-words.ts';
import { type Cells, column, createReportTable, integers, type ReportTable } from './report-table.ts';
import type { RunDetails } from './run-details.ts';
import type { Largest, MoneyFigures } from './run-money.ts';
import { sendingTables, timelineTable } from './run-sending-tables.ts';
import { formatLocal } from './time.ts';

export function countsTable({ summary }: RunDetails): ReportTable {
  const { contacts, requests, recipients, reportedUnsent = 0 } = summary;
  const counts = [
    ['Contacts', 'read', contacts.read],
    ...rejectionReasons.map((reason) => ['Contacts', reason, contacts[reason]] as const),
    ['Contacts', 'beyond the limit', contacts.beyondLimit ?? 0] as const,
    ['Requests', 'all', requests.total],
    ...requestStates.map((state) => ['Requests', state, requests[state]] as const),
    ['Recipients', 'all', recipients.total],
    ...recipientStates.map((state) => ['Recipients', state, recipients[state]] as const),
    ['Recipients', 'reported, not sent', reportedUnsent] as const,
  ] as const;
  return createReportTable(
    'Summary',
    'Summary',
    [column('Of', 'text'), column('State', 'text'), column('Number', 'integer')],
    counts.filter(([, name, count]) => count > 0 || name === 'read' || name === 'all'),
  );
}

/** All other tables in reading order, some without lines. */
export function runTables(details: RunDetails): ReportTable[] {
  return [
    timelineTable(details),
    ...sendingTables(details),
    ...resultTables(details),
    ...moneyTables(details),
    ...rejectionTables(details),
  ];
}

function resultTables(details: RunDetails): ReportTable[] {
  const { summary, deliveryResults, conflicts, failures, resolutions, cancellations, timeZone } = details;
  return [
    createReportTable(
      'Delivery results',
      'Delivery results',
      [column('Outcome', 'text'), column('Result', 'text'), column('Recipients', 'integer')],
      deliveryResults.map(({ outcome, result, recipients }) => [outcome, result, recipients]),
    ),
    createReportTable(
      'Conflicting reports',
      conflictTitle(summary.run, conflicts),
      [
        'MessageID',
        'Address',
        'Decided',
        'Result',
        `At (${timeZone})`,
        'Later outcome',
        'Later result',
        `At (${timeZone})`,
      ].map((title) => column(title, 'text')),
      conflicts.listed.map((report) => [
        report.messageId,
        report.address,
        report.decided,
        report.decidedResult,
        report.decidedAt && formatLocal(report.decidedAt, timeZone),
        report.outcome,
        report.result,
        formatLocal(report.receivedAt, timeZone),
      ]),
    ),
    createReportTable(
      'Not accepted',
      'Requests that were not accepted',
      [column('State', 'text'), column('Reason', 'text'), ...integers('Requests', 'Recipients')],
      failures.map(({ state, reason, requests, recipients }) => [state, reason, requests, recipients]),
    ),
    createReportTable(
      'Resolved',
      'Requests in doubt that were resolved',
      [
        ...['Resolution', 'Reason', 'By', `Last (${timeZone})`].map((title) => column(title, 'text')),
        ...integers('Requests'),
      ],
      resolutions.map(({ resolution, reason, by, at, requests }) => {
        return [resolution, reason, by, formatLocal(at, timeZone), requests];
      }),
    ),
    createReportTable(
      'Cancelled recipients',
      'Recipients cancelled since the run was planned',
      [column('Reason', 'text'), ...integers('Recipients')],
      cancellations.map(({ reason, recipients }) => [reason, recipients]),
    ),
  ];
}

function conflictTitle(run: string, { reports, recipients }: RunDetails['conflicts']): string {
  const which = `${reports} conflicting delivery report${reports === 1 ? '' : 's'} of ${recipients} recipient${recipients === 1 ? '' : 's'}`;
  return `${which}, kept and not counted, because their final outcome differs from the first (all: \`volley delivery-reports list --run ${run} --state conflicting\`)`;
}

function rejectionTables({ rejections, rejectedContacts, summary }: RunDetails): ReportTable[] {
  const rejectedCount = rejectionReasons.reduce((sum, reason) => sum + summary.contacts[reason], 0);
  return [
    createReportTable(
      'Rejected by reason',
      'Rejected contacts, by reason',
      [column('Reason', 'text'), column('Column', 'text'), ...integers('Contacts')],
      rejections.map(({ reason, column: name, contacts }) => [reason, name, contacts]),
    ),
    createReportTable(
      'Rejected contacts',
      `Rejected contacts (${rejectedContacts.length} of ${rejectedCount} shown)`,
      [
        column('File', 'text'),
        column('Line', 'integer'),
        ...['Column', 'Reason', 'Detail'].map((title) => column(title, 'text')),
      ],
      rejectedContacts.map(({ file, line, column: name, reason, detail }) => [
        file,
        line,
        name,
        reason,
        detail,
      ]),
    ),
  ];
}

function moneyTables({ money }: RunDetails): ReportTable[] {
  if (money === null) return [];
  const { currency, bySubAccount, byChargeCode, ...figures } = money;
  const inCurrency = currency === null ? '' : `, ${currency}`;
  const columns = [
    ...integers('Recipients', 'Accepted'),
    ...['Price', 'Estimated', 'Estimated tax', 'Difference'].map((title) => column(title, 'decimal')),
  ];
  const cells = (each: MoneyFigures): Cells => {
    const { recipients, accepted, price, estimated, estimatedTax, difference } = each;
    return [recipients, accepted, price, estimated, estimatedTax, difference];
  };
  const by = (name: string, { lines, others }: Largest): ReportTable =>
    createReportTable(
      `Cost by ${name}`,
      `Cost by ${name}${inCurrency}`,
      [column(name, 'text'), ...columns],
      [
        ...lines.map((line) => [formatPayer(line.value), ...cells(line)]),
        ...(others ? [[`${others.count} others`, ...cells(others)]] : []),
      ],
    );
  return [
    createReportTable(
      'Cost',
      `Cost${inCurrency}`,
      [...columns, ...integers('Unrated')],
      [[...cells(figures), figures.unrated]],
    ),
    by('SubAccount', bySubAccount),
    by('ChargeCode', byChargeCode),
  ];
}
