import type { AsOf } from '../../domain/replica.ts';
import type { CampaignQuery, CampaignRun, RunFigures } from '../../ledger/billing/run-costs.ts';
import { type Column, type Columns, decimalColumn, textColumn } from '../column.ts';
import type { Sheet } from '../formats/sheet.ts';
import type { Chart } from '../html/chart.ts';
import { createFunnelChart } from '../html/charts.ts';
import { deliveredShare } from '../run/run-outcome.ts';
import { formatPeriod } from './billing-words.ts';

type RunOfCell = CampaignRun & { readonly cell?: string | null };
type CampaignLine = RunFigures & { readonly of: RunOfCell | null };

type Kind = Column<CampaignLine>['kind'];

function runColumn(key: keyof CampaignRun, title: string, kind: Kind, minor?: number): Column<CampaignLine> {
  return { key, title, kind, value: ({ of }) => of?.[key] ?? null, minor };
}

function figureColumn(
  key: keyof RunFigures,
  title: string,
  kind: Kind,
  minor?: number,
): Column<CampaignLine> {
  return { key, title, kind, value: (line) => line[key], minor };
}

const columns: Columns<CampaignLine> = [
  textColumn('run', 'Run', ({ of }) => of?.run ?? 'Total'),
  runColumn('campaign', 'Campaign', 'text'),
  runColumn('account', 'Account', 'text', 9),
  runColumn('channel', 'Channel', 'text', 6),
  runColumn('state', 'State', 'state', 2),
  runColumn('plannedAt', 'Planned', 'time', 1),
  runColumn('begunAt', 'Begun', 'time', 8),
  runColumn('finishedAt', 'Finished', 'time', 7),
  runColumn('seconds', 'Seconds', 'decimal', 8),
  figureColumn('contactsRead', 'Contacts read', 'integer', 5),
  figureColumn('contactsLeftOut', 'Rejected', 'integer', 5),
  figureColumn('requests', 'Requests', 'integer', 6),
  figureColumn('recipients', 'Recipients', 'integer'),
  figureColumn('accepted', 'Accepted', 'integer', 3),
  figureColumn('delivered', 'Delivered', 'integer'),
  figureColumn('undelivered', 'Undelivered', 'integer', 3),
  figureColumn('failed', 'Failed', 'integer'),
  figureColumn('unknown', 'Unknown', 'integer'),
  decimalColumn('deliveredShare', 'Delivered %', deliveredShare, { minor: 4 }),
  figureColumn('price', 'Price', 'decimal'),
  figureColumn('estimated', 'Estimated', 'decimal', 7),
  figureColumn('currency', 'Currency', 'text'),
  runColumn('requestsPerSecond', 'Requests/s', 'decimal', 9),
];

const cellColumn = textColumn<CampaignLine>('cell', 'Cell', ({ of }) => of?.cell ?? null);

/** Hidden when all their values are zero. */
const optionalColumns: readonly string[] = [
  'failed',
  'estimated',
  'currency',
] satisfies readonly (keyof RunFigures)[];

export function campaignSheet(
  query: CampaignQuery,
  report: {
    readonly asOf: AsOf;
    readonly runs: AsyncIterable<readonly RunOfCell[]>;
    /** With a column that names the cell of each run. */
    readonly overCells?: boolean;
    readonly sums: readonly RunFigures[];
  },
): Sheet<CampaignLine> {
  const sums = report.sums.map((sum): CampaignLine => ({ ...sum, of: null }));
  async function* lines(): AsyncGenerator<readonly CampaignLine[], void, undefined> {
    for await (const runs of report.runs) yield runs.map((run) => ({ ...run, of: run }));
  }
  return {
    title: 'Runs of campaigns',
    subtitle: [query.campaigns.join(', ') || 'all campaigns', formatPeriod('planned', query)],
    asOf: report.asOf,
    columns: (report.overCells ? [cellColumn, ...columns] : columns).map((column) => ({
      ...column,
      // Null and zero alike.
      blank: optionalColumns.includes(column.key) && sums.every((sum) => Number(column.value(sum)) === 0),
    })),
    rows: lines(),
    totals: () => sums,
    charts: () => campaignCharts(report.sums),
  };
}

function campaignCharts(sums: readonly RunFigures[]): Chart[] {
  const all = (count: (sum: RunFigures) => number): number =>
    sums.reduce((total, sum) => total + count(sum), 0);
  return [
    createFunnelChart('From contacts to deliveries', [
      { name: 'Contacts', count: all(({ contactsRead }) => contactsRead) },
      { name: 'Recipients sent to', count: all(({ recipients }) => recipients) },
      { name: 'Accepted', count: all(({ accepted }) => accepted) },
      { name: 'Delivered', count: all(({ delivered }) => delivered) },
    ]),
  ];
}
