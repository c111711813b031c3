import type { RunKind } from '../domain/runs.ts';
import type { FailedRequest } from '../ledger/requests/stream-failed.ts';
import { formatReasonOrNull } from '../platform/reason-text.ts';
import type { Sheet, SheetColumn } from './formats/sheet.ts';
import { formatCampaign } from './run-summary.ts';

type FailureLine = Omit<FailedRequest, 'request' | 'state'> & {
  readonly request: number | null;
  readonly state: string;
};

const columns: readonly SheetColumn<FailureLine>[] = [
  { key: 'messageId', title: 'MessageID', kind: 'text', value: ({ messageId }) => messageId },
  { key: 'request', title: 'Request', kind: 'integer', value: ({ request }) => request, minor: 5 },
  { key: 'state', title: 'State', kind: 'text', value: ({ state }) => state },
  { key: 'reason', title: 'Reason', kind: 'text', value: ({ reason }) => formatReasonOrNull(reason) },
  { key: 'httpStatus', title: 'HTTP', kind: 'integer', value: ({ httpStatus }) => httpStatus, minor: 4 },
  { key: 'attempts', title: 'Attempts', kind: 'integer', value: ({ attempts }) => attempts, minor: 3 },
  { key: 'firstAt', title: 'First (UTC)', kind: 'time', value: ({ firstAt }) => firstAt, minor: 6 },
  { key: 'lastAt', title: 'Last (UTC)', kind: 'time', value: ({ lastAt }) => lastAt, minor: 2 },
  {
    key: 'recipients',
    title: 'Recipients',
    kind: 'integer',
    value: ({ recipients }) => recipients,
    minor: 1,
  },
  { key: 'subAccount', title: 'SubAccount', kind: 'text', value: ({ subAccount }) => subAccount, minor: 1 },
  { key: 'department', title: 'Department', kind: 'text', value: ({ department }) => department, minor: 4 },
  { key: 'chargeCode', title: 'ChargeCode', kind: 'text', value: ({ chargeCode }) => chargeCode, minor: 1 },
];

export function failureSheet(
  report: {
    readonly run: string;
    readonly campaign: string;
    readonly kind: RunKind;
    readonly rows: AsyncIterable<readonly FailedRequest[]>;
  },
  asOf: Date,
): Sheet<FailureLine> {
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
    asOf,
    columns,
    rows: counted(),
    totals: () => {
      const { requests, attempts, recipients } = sums;
      const count = `${requests} request${requests === 1 ? '' : 's'}`;
      return [{ ...nothing, ...noPayer, messageId: 'Total', state: count, attempts, recipients }];
    },
  };
}
