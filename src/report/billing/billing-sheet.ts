import type { AsOf } from '../../domain/replica.ts';
import type { RunKind } from '../../domain/runs.ts';
import type { StreamedBilling } from '../../engine/billing/billing.ts';
import type { Closing } from '../../ledger/billing/close.ts';
import type { BillingFigures } from '../../ledger/billing/figures.ts';
import type {
  BillingDimension,
  BillingLine,
  BillingQuery,
  BillingTotal,
} from '../../ledger/billing/report.ts';
import { type Column, textColumn } from '../column.ts';
import type { Sheet } from '../formats/sheet.ts';
import { formatLocal } from '../time.ts';
import { createBillingCharts } from './billing-charts.ts';
import { formatPayer, formatPeriod } from './billing-words.ts';

const titleOf = (dimension: BillingDimension): string =>
  dimension.charAt(0).toUpperCase() + dimension.slice(1);

type Figure = {
  readonly key: keyof BillingFigures;
  readonly title: string;
  readonly kind: 'integer' | 'decimal';
  /** Shown even when zero. */
  readonly always?: true;
  readonly minor?: number;
};

const figures: readonly Figure[] = [
  { key: 'requests', title: 'Requests', kind: 'integer', always: true, minor: 4 },
  { key: 'recipients', title: 'Recipients', kind: 'integer', always: true },
  { key: 'accepted', title: 'Accepted', kind: 'integer', always: true, minor: 7 },
  { key: 'failed', title: 'Failed', kind: 'integer', minor: 5 },
  { key: 'unknown', title: 'Unknown', kind: 'integer', always: true, minor: 2 },
  { key: 'delivered', title: 'Delivered', kind: 'integer', always: true, minor: 1 },
  { key: 'undelivered', title: 'Undelivered', kind: 'integer', always: true, minor: 6 },
  { key: 'reportedUnsent', title: 'Reported, not sent', kind: 'integer', minor: 8 },
  { key: 'notYetReported', title: 'Not yet reported', kind: 'integer', always: true, minor: 3 },
  { key: 'smsParts', title: 'SMS parts', kind: 'decimal', minor: 11 },
  { key: 'expectedSmsParts', title: 'SMS parts expected', kind: 'decimal', minor: 12 },
  { key: 'faxPages', title: 'Fax pages', kind: 'decimal', minor: 11 },
  { key: 'voiceSeconds', title: 'Voice seconds', kind: 'decimal', minor: 11 },
  { key: 'emails', title: 'E-mails', kind: 'decimal', minor: 11 },
  { key: 'price', title: 'Price', kind: 'decimal', always: true },
  { key: 'estimated', title: 'Estimated', kind: 'decimal', minor: 9 },
  { key: 'estimatedTax', title: 'Estimated tax', kind: 'decimal', minor: 13 },
  { key: 'difference', title: 'Difference', kind: 'decimal', minor: 10 },
  { key: 'unrated', title: 'Unrated', kind: 'integer', minor: 8 },
];

export function billingSheet(
  query: BillingQuery,
  report: {
    readonly totals: readonly BillingTotal[];
    /** Undefined: only the columns and the totals are shown. */
    readonly lines?: AsyncIterable<readonly BillingLine[]>;
    readonly charts?: Sheet<BillingLine>['charts'];
    /** Set when its figures no longer change. */
    readonly closing?: Closing | undefined;
  },
  asOf: AsOf,
): Sheet<BillingLine> {
  const { by } = query;
  const { totals, lines: batches = [] } = report;
  const dimensions = by.map((dimension, index) =>
    textColumn<BillingLine>(dimension, titleOf(dimension), ({ values }) => values[index] ?? null),
  );
  const measures = figures.map(
    ({ key, title, kind, always, minor }): Column<BillingLine> => ({
      key,
      title,
      kind,
      value: (line) => line[key],
      minor,
      blank: !always && totals.every((total) => Number(total[key]) === 0),
    }),
  );
  async function* named(): AsyncGenerator<readonly BillingLine[], void, undefined> {
    for await (const lines of batches)
      yield lines.map((line) => ({ ...line, values: line.values.map(formatPayer) }));
  }
  return {
    title: 'Billing',
    subtitle: [...formatQuery(query), ...formatClosing(report.closing, query.timeZone)],
    asOf,
    columns: [
      ...dimensions,
      textColumn('kind', 'Kind', {
        blank: totals.every(({ kind }) => kind === 'ordinary'),
      }),
      textColumn('correctionOf', 'Correction of', {
        blank: !totals.some(({ corrections }) => corrections),
      }),
      ...measures,
      textColumn('currency', 'Currency', {
        blank: totals.every(({ currency }) => currency === null),
      }),
    ],
    rows: named(),
    totals: () =>
      totals.map((total) => ({
        ...total,
        values: by.map((_, index) => (index === 0 ? totalTitles[total.kind] : null)),
        correctionOf: null,
      })),
    ...(report.charts ? { charts: report.charts } : {}),
  };
}

const totalTitles: Readonly<Record<RunKind, string>> = { ordinary: 'Total', test: 'Total of tests' };

function formatClosing(closing: Closing | undefined, timeZone: string): string[] {
  return closing
    ? [`closed ${formatLocal(closing.closedAt, timeZone)} ${timeZone} by ${closing.closedBy}`]
    : [];
}

function formatQuery(query: BillingQuery): string[] {
  const { by, filter } = query;
  const filters = Object.entries(filter).map(
    ([dimension, values]) => `${dimension}: ${values.map(formatPayer).join(', ')}`,
  );
  return [formatPeriod('sent', query), `by ${by.join(', ') || 'nothing, all together'}`, ...filters];
}

const charted = ['SubAccount', 'ChargeCode'] as const;

/** A closed period is as of its closing. */
export function createBillingReport(
  query: BillingQuery,
  { asOf, closing, sumBy, ...report }: StreamedBilling,
): Sheet<BillingLine> {
  const charts = async () => createBillingCharts(charted, report.totals, await sumBy(charted));
  return billingSheet(query, { ...report, closing, charts }, closing ? { at: closing.closedAt } : asOf);
}
