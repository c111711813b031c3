import { rejectionReasons } from '../../domain/contacts.ts';
import { recipientStates, requestStates } from '../../domain/runs.ts';
import type { PayerCosts, RunCost } from '../../ledger/billing/run-costs.ts';
import type { SuppressedRecipients } from '../../ledger/counts/groups.ts';
import type { ConflictingDeliveryReport } from '../../ledger/delivery-reports/list.ts';
import type { ResolutionGroup } from '../../ledger/runs/describe-run.ts';
import { count } from '../../platform/sentence.ts';
import { integerColumn, stateColumn, textColumn, wordsColumn } from '../column.ts';
import { failureGroupColumns, notAcceptedTitle } from '../lists/failures.ts';
import { rejectedColumns, rejectionColumns } from '../lists/rejected.ts';
import { deliveryResultColumns, moneyColumns, payerColumn } from '../lists/run-results.ts';
import { addressColumn, messageIdColumn } from '../lists/usual.ts';
import { variantResultColumns } from '../lists/variants.ts';
import type { WithReasonText } from '../reason-text-of.ts';
import { createReportTable, type ReportTable } from './report-table.ts';
import type { RunDetails } from './run-details.ts';
import { localTimeColumn, sendingTables, timelineTable } from './run-sending-tables.ts';
import { leftForLaterRun } from './run-summary.ts';

export function countsTable({ summary }: RunDetails): ReportTable {
  const { contacts, requests, recipients, reportedUnsent = 0 } = summary;
  const rowsOf = <Name extends string>(
    of: string,
    counts: Readonly<Record<Name, number>>,
    names: readonly Name[],
  ): Count[] => names.map((name) => ({ of, state: name, number: counts[name] }));
  const counts: Count[] = [
    { of: 'Contacts', state: 'read', number: contacts.read },
    ...rowsOf('Contacts', contacts, rejectionReasons),
    { of: 'Contacts', state: leftForLaterRun, number: contacts.beyondLimit ?? 0 },
    { of: 'Requests', state: 'all', number: requests.total },
    ...rowsOf('Requests', requests, requestStates),
    { of: 'Recipients', state: 'all', number: recipients.total },
    ...rowsOf('Recipients', recipients, recipientStates),
    { of: 'Recipients', state: 'reported, not sent', number: reportedUnsent },
  ];
  return createReportTable<Count>(
    'Summary',
    'Summary',
    [textColumn('of', 'Of'), stateColumn('state', 'State'), integerColumn('number', 'Number')],
    counts.filter(({ state, number }) => number > 0 || state === 'read' || state === 'all'),
  );
}

type Count = { readonly of: string; readonly state: string; readonly number: number };

/** All other tables in reading order, some without lines. */
export function runTables(details: RunDetails): ReportTable[] {
  return [
    createReportTable('Variants', 'Variants', variantResultColumns, details.variants),
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
    createReportTable('Delivery results', 'Delivery results', deliveryResultColumns, deliveryResults),
    createReportTable<ConflictingDeliveryReport>(
      'Conflicting reports',
      conflictTitle(summary.run, conflicts),
      [
        messageIdColumn,
        addressColumn,
        stateColumn('decided', 'Decided'),
        wordsColumn('decidedResult', 'Result'),
        localTimeColumn('At', timeZone, ({ decidedAt }) => decidedAt),
        stateColumn('outcome', 'Later outcome'),
        wordsColumn('result', 'Later result'),
        localTimeColumn('At', timeZone, ({ receivedAt }) => receivedAt),
      ],
      conflicts.listed,
    ),
    createReportTable('Not accepted', notAcceptedTitle, failureGroupColumns, failures),
    createReportTable<ResolutionGroup>(
      'Resolved',
      'Requests in doubt that were resolved',
      [
        textColumn('resolution', 'Resolution'),
        wordsColumn('reason', 'Reason'),
        textColumn('by', 'By'),
        localTimeColumn('Last', timeZone, ({ at }) => at),
        integerColumn('requests', 'Requests'),
      ],
      resolutions,
    ),
    createReportTable<WithReasonText<SuppressedRecipients>>(
      'Cancelled recipients',
      'Recipients cancelled since the run was planned',
      [wordsColumn('reason', 'Reason'), integerColumn('recipients', 'Recipients')],
      cancellations,
    ),
  ];
}

function conflictTitle(run: string, { reports, recipients }: RunDetails['conflicts']): string {
  const which = `${count(reports, 'conflicting delivery report')} of ${count(recipients, 'recipient')}`;
  return `${which}, kept and not counted, because their final outcome differs from the first (all: \`volley delivery-reports list ${run} --state conflicting\`)`;
}

function rejectionTables({ rejections, rejectedContacts, summary }: RunDetails): ReportTable[] {
  const rejectedCount = rejectionReasons.reduce((sum, reason) => sum + summary.contacts[reason], 0);
  return [
    createReportTable('Rejected by reason', 'Rejected contacts, by reason', rejectionColumns, rejections),
    createReportTable(
      'Rejected contacts',
      `Rejected contacts (${rejectedContacts.length} of ${rejectedCount} shown)`,
      rejectedColumns(rejectedContacts),
      rejectedContacts,
    ),
  ];
}

function moneyTables({ money }: RunDetails): ReportTable[] {
  if (money === null) return [];
  const inCurrency = money.currency === null ? '' : `, ${money.currency}`;
  const by = (name: string, { lines, others }: PayerCosts): ReportTable => {
    const rest = others === null ? [] : [{ ...others, value: null, others: others.count }];
    return createReportTable(
      `Cost by ${name}`,
      `Cost by ${name}${inCurrency}`,
      [payerColumn(name), ...moneyColumns],
      [...lines, ...rest],
    );
  };
  return [
    createReportTable<RunCost>(
      'Cost',
      `Cost${inCurrency}`,
      [...moneyColumns, integerColumn('unrated', 'Unrated')],
      [money],
    ),
    by('SubAccount', money.bySubAccount),
    by('ChargeCode', money.byChargeCode),
  ];
}
