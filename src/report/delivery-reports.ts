import type { ListedDeliveryReport } from '../ledger/delivery-reports/list.ts';
import type { MissingDeliveryReport } from '../ledger/delivery-reports/missing.ts';
import type { SheetColumn } from './formats/sheet.ts';
import type { Screen } from './screen.ts';
import { formatTable } from './table.ts';
import { formatTime, titleWithZone } from './time.ts';

export function deliveryReportTable(reports: readonly ListedDeliveryReport[], screen?: Screen): string {
  return formatTable(
    [
      { title: titleWithZone(screen, 'Received'), value: ({ receivedAt }) => formatTime(screen, receivedAt) },
      { title: 'Account', value: ({ account }) => account },
      { title: 'State', value: ({ state }) => state },
      { title: 'MessageID', value: ({ messageId }) => messageId ?? '' },
      { title: 'Address', value: ({ address }) => address ?? '' },
      { title: 'Run', value: ({ run }) => run ?? '' },
      { title: 'Content', value: formatContent },
    ],
    reports,
    [],
    screen,
  );
}

export const deliveryReportColumns: readonly SheetColumn<ListedDeliveryReport>[] = [
  { key: 'report', title: 'Report', kind: 'integer', value: ({ report }) => report },
  { key: 'receivedAt', title: 'Received (UTC)', kind: 'time', value: ({ receivedAt }) => receivedAt },
  { key: 'account', title: 'Account', kind: 'text', value: ({ account }) => account },
  { key: 'state', title: 'State', kind: 'text', value: ({ state }) => state },
  { key: 'run', title: 'Run', kind: 'text', value: ({ run }) => run },
  { key: 'messageId', title: 'MessageID', kind: 'text', value: ({ messageId }) => messageId },
  { key: 'jobNumber', title: 'JobNumber', kind: 'text', value: ({ jobNumber }) => jobNumber },
  { key: 'address', title: 'Address', kind: 'text', value: ({ address }) => address },
  { key: 'text', title: 'Reply', kind: 'text', value: ({ text }) => text },
  { key: 'outcome', title: 'Outcome', kind: 'text', value: ({ outcome }) => outcome },
  { key: 'status', title: 'Status', kind: 'text', value: ({ status }) => status },
  { key: 'result', title: 'Result', kind: 'text', value: ({ result }) => result },
  { key: 'units', title: 'Units', kind: 'decimal', value: ({ units }) => units },
  { key: 'price', title: 'Price', kind: 'decimal', value: ({ price }) => price },
  { key: 'why', title: 'Why', kind: 'text', value: ({ why }) => why },
];

function formatContent({ why, text, status, result }: ListedDeliveryReport): string {
  return text ?? [status, result, why].filter(Boolean).join(', ');
}

export function missingTable(missing: readonly MissingDeliveryReport[], screen?: Screen): string {
  return formatTable(
    [
      { title: titleWithZone(screen, 'Accepted'), value: ({ acceptedAt }) => formatTime(screen, acceptedAt) },
      { title: 'Run', value: ({ run }) => run },
      { title: 'MessageID', value: ({ messageId }) => messageId },
      { title: 'Address', value: ({ address }) => address },
      { title: 'Last report', value: ({ lastStatus }) => lastStatus ?? '(none)' },
    ],
    missing,
    [],
    screen,
  );
}

export const missingColumns: readonly SheetColumn<MissingDeliveryReport>[] = [
  { key: 'acceptedAt', title: 'Accepted (UTC)', kind: 'time', value: ({ acceptedAt }) => acceptedAt },
  { key: 'run', title: 'Run', kind: 'text', value: ({ run }) => run },
  { key: 'messageId', title: 'MessageID', kind: 'text', value: ({ messageId }) => messageId },
  { key: 'address', title: 'Address', kind: 'text', value: ({ address }) => address },
  { key: 'lastStatus', title: 'Last report', kind: 'text', value: ({ lastStatus }) => lastStatus },
];

export function formatPoll(counts: {
  readonly asked: number;
  readonly reports: number;
  readonly unclear: number;
}): string {
  const { asked, reports, unclear } = counts;
  if (asked === 0) return 'No delivery report is missing, or all were asked for just now.';
  const parts = [
    `${asked} request${asked === 1 ? '' : 's'} looked up`,
    `${reports} final delivery report${reports === 1 ? '' : 's'}`,
    ...(unclear > 0 ? [`${unclear} without a clear answer`] : []),
  ];
  return `${parts.join('; ')}.`;
}
