import { argument, defineCommand, flag, option } from '../command.ts';
import { parsePast, parseWholeNumber, runArgument } from '../options.ts';
import { withLedgerToRead } from '../shell.ts';

export const command = defineCommand({
  description:
    'Prints what happens to a run as it happens: attempts and answers, delivery reports and replies, decisions of operators, and changes of its state. Ends with the run; without one, follows all until Ctrl-C.',
  arguments: [argument('[run]', `${runArgument}; without one, all runs`)],
  options: [
    option('-n, --lines <number>', 'lines of the past to begin with (default: 10)', {
      read: parseWholeNumber,
    }),
    option(
      '--since <time>',
      'begin with everything since this time, such as 15m, 2026-11-21 or 2026-11-21T08:00:00Z',
      { read: parsePast },
    ),
    flag('--failures', 'neither acceptances nor deliveries'),
    flag('--addresses', 'with the addresses of recipients in delivery reports'),
    flag('-f, --follow', 'also after the end of the run, until Ctrl-C'),
    flag('--no-follow', 'print the past and end'),
    flag('--json', 'print one JSON object a line'),
  ],
  examples: [
    ['volley tail latest', 'follow the newest run until it is over'],
    ['volley tail --failures --since 15m --no-follow', 'see what went wrong lately, in any run'],
  ],
  run: async (shell, [name], { since: past, ...options }) => {
    const { requireRun } = await import('../../engine/runs/find-run.ts');
    const { chooseRun } = await import('../choose-run.ts');
    const { printEvents } = await import('../print-events.ts');
    await withLedgerToRead(shell, async (context) => {
      const run = name === undefined ? undefined : await chooseRun(shell, context, name);
      if (run !== undefined) await requireRun(context, run);
      await printEvents(shell, context, run, { ...options, ...(past && { since: past(shell.now()) }) });
    });
  },
});
