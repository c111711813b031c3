import { type Command, InvalidArgumentError } from 'commander';
import { closeMonth } from '../../engine/billing/billing.ts';
import { type Closing, listClosings } from '../../ledger/billing/close.ts';
import type { Screen } from '../../report/screen.ts';
import { formatTable } from '../../report/table.ts';
import { formatTime, screenZone, titleWithZone } from '../../report/time.ts';
import { parsePerson } from '../options.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';
import { timeZoneOption } from '../time-zone-option.ts';

export function define(command: Command, shell: Shell): void {
  command.description(
    'Closes months of billing, and lists closed months. `volley report billing` prints the reports.',
  );
  command
    .command('close')
    .description(
      'Closes a month: its billing report stays the same from now on. Later changes to requests of the month go to the next month, as a named correction. You close months one after the other; the first one closes all months before it.',
    )
    .argument('<month>', 'such as 2026-11', parseMonth)
    .addOption(timeZoneOption('time zone in which the month starts and ends'))
    .option('--by <name>', 'the person who closes the month (default: user@host)', parsePerson)
    .option('--json', 'print the closing as JSON')
    .action(async (month: string, { timeZone, by, json }: CloseOptions) => {
      const closing = await withLedger(shell, (context) =>
        closeMonth(context, { month, timeZone, closedBy: by ?? context.actor.name }),
      );
      shell.print(json ? JSON.stringify(closing) : closedText(closing, shell.screen));
    });
  command
    .command('list')
    .description('Lists the closed months, earliest first.')
    .option('--json', 'print one JSON object a line')
    .action(async ({ json }: { json?: true }) => {
      const closings = await withLedgerToRead(shell, ({ ledger }) => listClosings(ledger.pool));
      if (json) for (const closing of closings) shell.print(JSON.stringify(closing));
      else
        shell.print(closings.length === 0 ? 'No month is closed yet.' : closingTable(closings, shell.screen));
    });
}

type CloseOptions = { readonly timeZone: string; readonly by?: string; readonly json?: true };

function parseMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('expected a month such as 2026-11.');
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
