import type { ListedReport } from '../ledger/reports/list.ts';
import type { MissingReport } from '../ledger/reports/missing.ts';
import { table } from './table.ts';
import { toSeconds } from './time.ts';

/** Reports that are to be looked at, for `volley reports list`. */
export function reportTable(reports: readonly ListedReport[]): string {
  return table(
    [
      { title: 'Received (UTC)', value: ({ receivedAt }) => toSeconds(receivedAt) },
      { title: 'Account', value: ({ account }) => account },
      { title: 'State', value: ({ state }) => state },
      { title: 'MessageID', value: ({ messageId }) => messageId ?? '' },
      { title: 'Address', value: ({ address }) => address ?? '' },
      { title: 'Run', value: ({ run }) => run ?? '' },
      { title: 'Says', value: sayingOf },
    ],
    reports,
  );
}

function sayingOf({ why, text, status, result }: ListedReport): string {
  return why ?? text ?? [status, result].filter(Boolean).join(', ');
}

/** Recipients without a final report, for `volley reports missing`. */
export function missingTable(missing: readonly MissingReport[]): string {
  return table(
    [
      { title: 'Accepted (UTC)', value: ({ acceptedAt }) => toSeconds(acceptedAt) },
      { title: 'Run', value: ({ run }) => run },
      { title: 'MessageID', value: ({ messageId }) => messageId },
      { title: 'Address', value: ({ address }) => address },
      { title: 'Last report', value: ({ lastStatus }) => lastStatus ?? '(none)' },
    ],
    missing,
  );
}

/** What asking the service for missing reports came to. */
export function pollText(counts: {
  readonly asked: number;
  readonly reports: number;
  readonly unclear: number;
}): string {
  const { asked, reports, unclear } = counts;
  if (asked === 0) return 'No request to ask about: no report is missing, or all were asked about just now.';
  const parts = [
    `${asked} request${asked === 1 ? '' : 's'} asked about`,
    `${reports} final report${reports === 1 ? '' : 's'}`,
    ...(unclear > 0 ? [`${unclear} without a clear answer`] : []),
  ];
  return `${parts.join('; ')}.`;
}
