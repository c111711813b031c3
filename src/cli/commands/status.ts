import { InputError } from '../../domain/problems.ts';
import { withLedgerOfRun } from '../cells.ts';
import { argument, defineCommand, flag, option } from '../command.ts';
import { parseSeconds } from '../option-readers.ts';
import { runArgument } from '../options.ts';

export const command = defineCommand({
  description:
    'Shows a run in numbers: contacts, requests and recipients by state, what it waits for, and notifications.',
  arguments: [argument('[run]', `${runArgument}; without one, the newest run`)],
  options: [
    flag('--watch', 'show the progress until the run is over'),
    option('--interval <seconds>', 'with --watch, how often to look (default: 1; in a pipe 5)', {
      read: parseSeconds,
    }),
    flag(
      '--exit-status',
      'end with 3 if requests were not accepted, with 4 if the run is paused or cancelled',
    ),
    flag('--json', 'print JSON; with --watch, first a line for each change'),
  ],
  exits: {
    3: 'with --exit-status: requests were not accepted; a cell is away that may have a newer run',
    4: 'with --exit-status: the run is paused or cancelled',
  },
  examples: [
    ['volley status latest', 'see the newest run in numbers'],
    ['volley status --watch', 'watch the newest run until it is over'],
  ],
  run: async (shell, [name], { json = false, watch, interval, exitStatus }) => {
    if (interval !== undefined && !watch)
      throw new InputError([{ where: '--interval', what: 'It needs --watch.' }]);
    const { requireStatus } = await import('../../engine/reporting/run-status.ts');
    const { latest } = await import('../../engine/runs/named-run.ts');
    const { exitCodeOf, statusLines } = await import('../runs/status-lines.ts');
    await withLedgerOfRun(shell, { name: name ?? latest }, async (context, run) => {
      const watching = watch && (await import('../runs/watch-status.ts'));
      const status = watching
        ? await watching.watchStatus(shell, context, run, { json, interval })
        : await requireStatus(context, run);
      shell.print(json ? JSON.stringify(status) : statusLines(status, shell.screen).join('\n'));
      const code = exitCodeOf(status);
      // A 0 would hide a cell that is away.
      if (exitStatus && code !== 0) shell.exitWith(code);
    });
  },
});
