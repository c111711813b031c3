import type { Suppression } from '../domain.ts';
import { table } from './table.ts';

export function suppressionTable(suppressions: readonly Suppression[]): string {
  return table(
    [
      { title: 'Channel', value: ({ channel }) => channel },
      { title: 'Address', value: ({ address }) => address },
      { title: 'SubAccount', value: ({ subAccount }) => subAccount || '(all)' },
      { title: 'Source', value: ({ source }) => source },
      { title: 'Since', value: ({ createdAt }) => createdAt.toISOString() },
      { title: 'Reason', value: ({ reason }) => reason },
    ],
    suppressions,
  );
}
