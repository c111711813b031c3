import { InvalidArgumentError } from 'commander';
import { argument, defineCommand, defineGroup, option } from '../command.ts';
import { parsePerson } from '../option-readers.ts';
import { jsonFlag, jsonLinesFlag } from '../options.ts';
import { withLedger, withLedgerToRead } from '../shell.ts';

const close = defineCommand({
  description:
    'Closes a month in --time-zone (default: that of the last closing), and with the first one all before it. Its report no longer changes; later news is a correction in the next month.',
  arguments: [argument('<month>', 'such as 2026-11', { read: parseMonth })],
  options: [
    option('--by <name>', 'the person who closes it (default: user@host)', { read: parsePerson }),
    jsonFlag,
  ],
  examples: [['volley billing close 2026-10 --time-zone Pacific/Auckland', 'close October']],
  run: async (shell, [month], { by, json }) => {
    const { closeMonth, zoneOfNextClosing } = await import('../../engine/billing/billing.ts');
    const { closedText } = await import('../../report/lists/months.ts');
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
  options: [jsonLinesFlag],
  examples: [['volley billing list', 'list the closed months']],
  run: async (shell, _, { json }) => {
    const { listClosings } = await import('../../ledger/billing/close.ts');
    const { monthColumns, noMonths } = await import('../../report/lists/months.ts');
    const { printRows } = await import('../output/print-list.ts');
    const closings = await withLedgerToRead(shell, ({ ledger }) => listClosings(ledger.pool));
    printRows(shell, json, { columns: monthColumns, none: noMonths }, closings);
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
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('expected a month such as 2026-11.');
}
