import { closeMonth, zoneOfNextClosing } from '../../engine/billing/billing.ts';
import { type Closing, listClosings } from '../../ledger/billing/close.ts';
import type { Screen } from '../../report/screen.ts';
import { formatTable } from '../../report/table.ts';
import { formatTime, screenZone, titleWithZone } from '../../report/time.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

export type CloseOptions = { readonly timeZone?: string; readonly by?: string; readonly json?: true };

export async function closeAction(
  shell: Shell,
  month: string,
  { timeZone, by, json }: CloseOptions,
): Promise<void> {
  const closing = await withLedger(shell, async (context) =>
    closeMonth(context, {
      month,
      timeZone: timeZone ?? (await zoneOfNextClosing(context, month)),
      closedBy: by ?? context.actor.name,
    }),
  );
  shell.print(json ? JSON.stringify(closing) : closedText(closing, shell.screen));
}

export async function listAction(shell: Shell, { json }: { json?: true }): Promise<void> {
  const closings = await withLedgerToRead(shell, ({ ledger }) => listClosings(ledger.pool));
  if (json) for (const closing of closings) shell.print(JSON.stringify(closing));
  else shell.print(closings.length === 0 ? 'No month is closed yet.' : closingTable(closings, shell.screen));
}

function closedText({ period, timeZone, beginsAt, endsAt }: Closing, screen: Screen): string {
  const [from, to] = [beginsAt, endsAt].map((time) => formatTime(screen, time));
  return `${period} is closed: requests sent from ${from} until before ${to} ${screenZone(screen)} (a month of ${timeZone}). Later changes go to the next month, as corrections.`;
}

function closingTable(closings: readonly Closing[], screen?: Screen): string {
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
