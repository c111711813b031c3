import type { RunFigures } from '../ledger/billing/run-costs.ts';
import type { Chart } from './html/chart.ts';
import { createFunnelChart } from './html/charts.ts';

export function createCampaignCharts(sums: readonly RunFigures[]): Chart[] {
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
