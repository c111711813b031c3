import { defineCommand, flag, option } from '../command.ts';
import { parseWholeNumber } from '../option-readers.ts';
import { anyRunArgument, jsonFlag, sinceOption } from '../options.ts';
import { withLedgerToRead } from '../shell.ts';

export const command = defineCommand({
  description:
    'Prints what happens to a run, as it happens. Ends with the run; without one, follows all until Ctrl-C.',
  arguments: [anyRunArgument],
  options: [
    option('-n, --lines <number>', 'lines of the past to begin with (default: 10)', {
      read: parseWholeNumber,
    }),
    sinceOption('begin with everything since this time'),
    flag('--failures', 'only what went wrong'),
    flag('--addresses', 'with addresses of recipients'),
    flag('-f, --follow', 'also after the end of the run, until Ctrl-C'),
    flag('--no-follow', 'print the past and end'),
    jsonFlag,
  ],
  examples: [
    ['volley tail latest', 'follow the newest run until it is over'],
    ['volley tail --failures --since 15m --no-follow', 'see what went wrong lately, in any run'],
  ],
  run: async (shell, [name], { since: past, ...options }) => {
    const { chooseAnyRun } = await import('../runs/choose-run.ts');
    const { printEvents } = await import('../runs/print-events.ts');
    await withLedgerToRead(shell, async (context) => {
      const run = await chooseAnyRun(shell, context, name);
      await printEvents(shell, context, run, { ...options, ...(past && { since: past(shell.now()) }) });
    });
  },
});
