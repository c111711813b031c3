import { InvalidArgumentError } from 'commander';
import { isMonth } from '../../platform/months.ts';
import { askAnd, awayExits, cellsOf, changeExits, problemOf, readCells } from '../cells.ts';
import { argument, defineCommand, defineGroup, option } from '../command.ts';
import { CellsAwayError } from '../failures.ts';
import { parsePerson } from '../option-readers.ts';
import { jsonFlag } from '../options.ts';
import { withLedger } from '../shell.ts';

const close = defineCommand({
  description:
    'Closes a month in --time-zone (default: that of the last closing), and with the first one all before it. Its report no longer changes; later news is a correction in the next month.',
  arguments: [argument('<month>', 'such as 2026-11', { read: parseMonth })],
  options: [
    option('--by <name>', 'the person who closes it (default: user@host)', { read: parsePerson }),
    jsonFlag,
  ],
  exits: changeExits,
  examples: [['volley billing close 2026-10 --time-zone Pacific/Auckland', 'close October']],
  run: async (shell, [month], { by, json }) => {
    const { closeMonth, zoneOfNextClosing } = await import('../../engine/billing/billing.ts');
    const { closedText } = await import('../../report/lists/months.ts');
    const cells = await cellsOf(shell);
    if (cells) {
      const { closeMonthInCells } = await import('../../engine/cells/close-month.ts');
      const { monthColumns } = await import('../../report/lists/months.ts');
      const { printChanged } = await import('../output/print-list.ts');
      const asked = { month, timeZone: shell.timeZone, closedBy: by ?? shell.user };
      const end = await closeMonthInCells((ask) => askAnd(shell, cells, 'write', ask), asked);
      if (end.kind !== 'not begun') return printChanged(shell, json, monthColumns, end.answers);
      const what = 'Nothing was closed now: a month is closed when all cells answer.';
      throw new CellsAwayError([{ where: `billing close ${month}`, what }, ...end.away.map(problemOf)]);
    }
    const closing = await withLedger(shell, async (context) =>
      closeMonth(context, {
        month,
        timeZone: shell.timeZone ?? (await zoneOfNextClosing(context, month)),
        closedBy: by ?? context.actor.name,
      }),
    );
    shell.print(json ? JSON.stringify(closing) : closedText(closing, shell.screen));
  },
});

const list = defineCommand({
  description: 'Lists the closed months, earliest first.',
  options: [jsonFlag],
  exits: awayExits,
  examples: [['volley billing list', 'list the closed months']],
  run: async (shell, _, { json }) => {
    const { listClosings } = await import('../../ledger/billing/close.ts');
    const { monthColumns, noMonths } = await import('../../report/lists/months.ts');
    const { columnsOver, printRows, rowsOf } = await import('../output/print-list.ts');
    const { parts } = await readCells(shell, ({ ledger }) => listClosings(ledger.pool));
    const earliest = rowsOf(parts).toSorted((one, other) => Number(one.endsAt) - Number(other.endsAt));
    printRows(shell, json, { columns: columnsOver(parts, monthColumns), none: noMonths }, earliest);
  },
});

export const command = defineGroup(
  'Reports requests, units and money by payer, compares invoices of the service with the ledger, and closes months.',
  {
    report: () => import('./billing-report.ts'),
    reconcile: () => import('./billing-reconcile.ts'),
    close,
    list,
  },
);

function parseMonth(text: string): string {
  if (isMonth(text)) return text;
  throw new InvalidArgumentError('expected a month such as 2026-11.');
}
