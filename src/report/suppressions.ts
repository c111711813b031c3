import { suppressionListColumns } from '../domain/files.ts';
import type { Suppression } from '../domain/suppressions.ts';
import { formatSuppressionReason } from '../platform/planning-reason-text.ts';
import type { CellValue, SheetColumn } from './formats/sheet.ts';
import type { Screen } from './screen.ts';
import { formatTable } from './table.ts';
import { formatTime, titleWithZone } from './time.ts';

export function formatSuppression({ run = null, ...suppression }: Suppression): Suppression {
  return { ...suppression, reason: formatSuppressionReason({ ...suppression, run }) };
}

export function suppressionTable(suppressions: readonly Suppression[], screen?: Screen): string {
  return formatTable(
    [
      { title: 'Channel', value: ({ channel }) => channel },
      { title: 'Address', value: ({ address }) => address },
      { title: 'Account', value: ({ account }) => account || '(all)' },
      { title: 'SubAccount', value: ({ subAccount }) => subAccount || '(all)' },
      { title: 'Source', value: ({ source }) => source },
      { title: titleWithZone(screen, 'Since'), value: ({ createdAt }) => formatTime(screen, createdAt) },
      { title: 'Reason', value: ({ reason }) => reason },
    ],
    suppressions,
    [],
    screen,
  );
}

type ListColumn = (typeof suppressionListColumns)[number];

const listValues: Readonly<Record<ListColumn, (suppression: Suppression) => CellValue>> = {
  Channel: ({ channel }) => channel,
  Address: ({ address }) => address,
  Account: ({ account }) => account ?? '',
  SubAccount: ({ subAccount }) => subAccount,
  Source: ({ source }) => source,
  'Since (UTC)': ({ createdAt }) => createdAt,
  Reason: ({ reason }) => reason,
};

/** For `volley suppress list --csv`, which `volley suppress import` reads. An empty Account or SubAccount means all. */
export const suppressionColumns: readonly SheetColumn<Suppression>[] = suppressionListColumns.map(
  (title) => ({
    key: title,
    title,
    kind: title === 'Since (UTC)' ? 'time' : 'text',
    value: listValues[title],
  }),
);
