import type { CampaignQuery, CampaignRun, RunFigures } from '../ledger/billing/campaign-runs.ts';
import type { Sheet, SheetColumn } from './formats/sheet.ts';

/** A run, or the sums of all of a currency. */
type CampaignLine = RunFigures & { readonly of: CampaignRun | null };

type Kind = SheetColumn<CampaignLine>['kind'];

function ofRun(key: keyof CampaignRun, title: string, kind: Kind): SheetColumn<CampaignLine> {
  return { key, title, kind, value: ({ of }) => of?.[key] ?? null };
}

function figure(key: keyof RunFigures, title: string, kind: Kind): SheetColumn<CampaignLine> {
  return { key, title, kind, value: (line) => line[key] };
}

const columns: readonly SheetColumn<CampaignLine>[] = [
  { key: 'run', title: 'Run', kind: 'text', value: ({ of }) => of?.run ?? 'Total' },
  ofRun('campaign', 'Campaign', 'text'),
  ofRun('account', 'Account', 'text'),
  ofRun('channel', 'Channel', 'text'),
  ofRun('state', 'State', 'text'),
  ofRun('plannedAt', 'Planned (UTC)', 'time'),
  ofRun('begunAt', 'Begun (UTC)', 'time'),
  ofRun('finishedAt', 'Finished (UTC)', 'time'),
  ofRun('seconds', 'Seconds', 'decimal'),
  figure('contactsRead', 'Contacts read', 'integer'),
  figure('contactsLeftOut', 'Left out', 'integer'),
  figure('requests', 'Requests', 'integer'),
  figure('recipients', 'Recipients', 'integer'),
  figure('accepted', 'Accepted', 'integer'),
  figure('delivered', 'Delivered', 'integer'),
  figure('undelivered', 'Undelivered', 'integer'),
  figure('failed', 'Failed', 'integer'),
  figure('unknown', 'Unknown', 'integer'),
  figure('deliveredShare', 'Delivered %', 'decimal'),
  figure('price', 'Price', 'decimal'),
  figure('estimated', 'Estimated', 'decimal'),
  figure('currency', 'Currency', 'text'),
  ofRun('requestsPerSecond', 'Requests/s', 'decimal'),
];

/** Columns that people can do without where nothing is in them. */
const seldom: readonly string[] = ['failed', 'estimated', 'currency'] satisfies readonly (keyof RunFigures)[];

/** The runs of campaigns side by side, newest first. */
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
