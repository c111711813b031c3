import type { Closing } from '../ledger/billing/close.ts';
import type { Screen } from './screen.ts';
import { formatTable } from './table.ts';
import { formatTime, screenZone, titleWithZone } from './time.ts';

export function closedText({ period, timeZone, beginsAt, endsAt }: Closing, screen: Screen): string {
  const [from, to] = [beginsAt, endsAt].map((time) => formatTime(screen, time));
  return `${period} is closed: requests sent from ${from} until before ${to} ${screenZone(screen)} (a month of ${timeZone}). Later changes go to the next month, as corrections.`;
}

export function closingTable(closings: readonly Closing[], screen?: Screen): string {
  return formatTable(
    [
      { title: 'Month', value: ({ period }) => period },
      { title: 'Month of', value: ({ timeZone }) => timeZone },
      { title: titleWithZone(screen, 'From'), value: ({ beginsAt }) => formatTime(screen, beginsAt) },
      { title: titleWithZone(screen, 'Until before'), value: ({ endsAt }) => formatTime(screen, endsAt) },
      { title: titleWithZone(screen, 'Closed'), value: ({ closedAt }) => formatTime(screen, closedAt) },
      { title: 'By', value: ({ closedBy }) => closedBy },
    ],
    closings,
    [],
    screen,
  );
}
