import type { FailureReport } from '../../engine/reporting/streamed-reports.ts';
import type { FailureGroup } from '../../ledger/counts/groups.ts';
import type { Doubt, FailedRequest } from '../../ledger/requests/list-failed.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, columnsOf, integerColumn, stateColumn, timeColumn } from '../column.ts';
import type { Sheet } from '../formats/sheet.ts';
import { formatCampaign } from '../run/run-summary.ts';
import {
  chargeCodeColumn,
  departmentColumn,
  messageIdColumn,
  reasonColumn,
  recipientsColumn,
  subAccountColumn,
  wordsOf,
} from './usual.ts';

/** The title of what the service did not accept. */
export const notAcceptedTitle = 'Requests that were not accepted';

type FailureLine = Omit<FailedRequest, 'request' | 'state'> & {
  readonly request: number | null;
  readonly state: string;
};

const columns: Columns<FailureLine> = [
  messageIdColumn,
  integerColumn('request', 'Request', { minor: 3 }),
  stateColumn('state', 'State'),
  reasonColumn,
  integerColumn('httpStatus', 'HTTP', { minor: 4 }),
  integerColumn('attempts', 'Attempts', { minor: 5 }),
  timeColumn('firstAt', 'First', { minor: 6 }),
  timeColumn('lastAt', 'Last', { minor: 2 }),
  { ...recipientsColumn, minor: 1 },
  { ...subAccountColumn, minor: 1 },
  { ...departmentColumn, minor: 4 },
  { ...chargeCodeColumn, minor: 1 },
];

/** Requests of a run that were not accepted, with their sums. */
export function failureSheet(report: FailureReport): Sheet<FailureLine> {
  const sums = { requests: 0, attempts: 0, recipients: 0 };
  async function* counted(): AsyncGenerator<readonly FailureLine[], void, undefined> {
    for await (const rows of report.rows) {
      for (const { attempts, recipients } of rows) {
        sums.requests++;
        sums.attempts += attempts;
        sums.recipients += recipients;
      }
      yield rows;
    }
  }
  const nothing = { reason: null, httpStatus: null, firstAt: null, lastAt: null, request: null };
  const noPayer = { subAccount: null, department: null, chargeCode: null };
  return {
    title: `Requests of run ${report.run} that were not accepted`,
    subtitle: [`campaign ${formatCampaign(report)}`],
    asOf: report.asOf,
    columns,
    rows: counted(),
    totals: () => {
      const { requests, attempts, recipients } = sums;
      const state = count(requests, 'request');
      return [{ ...nothing, ...noPayer, messageId: 'Total', state, attempts, recipients }];
    },
  };
}

/** Requests that were not accepted, by state and reason. */
export const failureGroupColumns = columnsOf<Omit<FailureGroup, 'group'>>()([
  stateColumn('state', 'State'),
  { ...reasonColumn, shown: ({ reason }) => wordsOf(reason) },
  integerColumn('requests', 'Requests'),
  recipientsColumn,
]);

/** Requests in doubt. */
export const doubtColumns = columnsOf<Doubt>()([
  integerColumn('request', 'Request'),
  messageIdColumn,
  recipientsColumn,
  integerColumn('attempts', 'Attempts'),
  timeColumn('since', 'Since'),
  reasonColumn,
]);
