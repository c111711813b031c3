import type { CampaignQuery, CampaignRun, RunFigures } from '../ledger/billing/campaign-runs.ts';
import type { Sheet, SheetColumn } from './formats/sheet.ts';

type CampaignLine = RunFigures & { readonly of: CampaignRun | null };

type Kind = SheetColumn<CampaignLine>['kind'];

function ofRun(key: keyof CampaignRun, title: string, kind: Kind, minor?: number): SheetColumn<CampaignLine> {
  return { key, title, kind, value: ({ of }) => of?.[key] ?? null, minor };
}

function figure(key: keyof RunFigures, title: string, kind: Kind, minor?: number): SheetColumn<CampaignLine> {
  return { key, title, kind, value: (line) => line[key], minor };
}

const columns: readonly SheetColumn<CampaignLine>[] = [
  { key: 'run', title: 'Run', kind: 'text', value: ({ of }) => of?.run ?? 'Total' },
  ofRun('campaign', 'Campaign', 'text'),
  ofRun('account', 'Account', 'text', 9),
  ofRun('channel', 'Channel', 'text', 6),
  ofRun('state', 'State', 'text', 1),
  ofRun('plannedAt', 'Planned (UTC)', 'time', 4),
  ofRun('begunAt', 'Begun (UTC)', 'time', 8),
  ofRun('finishedAt', 'Finished (UTC)', 'time', 7),
  ofRun('seconds', 'Seconds', 'decimal', 8),
  figure('contactsRead', 'Contacts read', 'integer', 5),
  figure('contactsLeftOut', 'Left out', 'integer', 5),
  figure('requests', 'Requests', 'integer', 6),
  figure('recipients', 'Recipients', 'integer'),
  figure('accepted', 'Accepted', 'integer', 3),
  figure('delivered', 'Delivered', 'integer', 1),
  figure('undelivered', 'Undelivered', 'integer', 2),
  figure('failed', 'Failed', 'integer'),
  figure('unknown', 'Unknown', 'integer'),
  figure('deliveredShare', 'Delivered %', 'decimal', 4),
  figure('price', 'Price', 'decimal'),
  figure('estimated', 'Estimated', 'decimal', 7),
  figure('currency', 'Currency', 'text', 2),
  ofRun('requestsPerSecond', 'Requests/s', 'decimal', 9),
];

/** Columns that people can do without where nothing is in them. */
const seldom: readonly string[] = ['failed', 'estimated', 'currency'] satisfies readonly (keyof RunFigures)[];

export function campaignSheet(
  { campaigns, from, until, timeZone }: CampaignQuery,
  report: {
    readonly runs: AsyncIterable<readonly CampaignRun[]>;
    readonly sums: readonly RunFigures[];
    readonly charts?: Sheet<CampaignLine>['charts'];
  },
  asOf: Date,
): Sheet<CampaignLine> {
  const sums = report.sums.map((sum): CampaignLine => ({ ...sum, of: null }));
  async function* lines(): AsyncGenerator<readonly CampaignLine[], void, undefined> {
    for await (const runs of report.runs) yield runs.map((run) => ({ ...run, of: run }));
  }
  const period = `planned ${from === null ? 'at any time' : `from ${from}`}${until === null ? '' : ` until before ${until}`}, ${timeZone}`;
  return {
    title: 'Runs of campaigns',
    subtitle: [campaigns.length === 0 ? 'all campaigns' : campaigns.join(', '), period],
    asOf,
    columns: columns.map((column) => ({
      ...column,
      // Null and amounts of nothing alike.
      blank: seldom.includes(column.key) && sums.every((sum) => Number(column.value(sum)) === 0),
    })),
    rows: lines(),
    totals: () => sums,
    ...(report.charts ? { charts: report.charts } : {}),
  };
}
