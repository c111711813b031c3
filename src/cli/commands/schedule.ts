import { Argument, type Command } from 'commander';
import { campaignsFolder, parseWholeNumber } from '../options.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command.description(
    'Lists and updates campaigns with a `schedule`, which run by themselves while a `volley worker` runs. Each tick makes one run, with any number of workers.',
  );
  command
    .command('sync')
    .description(
      'Reads the schedules of a folder of campaigns into the ledger, as workers do every few seconds, and prints their mistakes.',
    )
    .addArgument(folderArgument(shell))
    .action(async (folder: string) => {
      const { syncAction } = await import('../actions/schedule.ts');
      await syncAction(shell, folder);
    });
  command
    .command('list')
    .description('Lists the schedules, and the results of their latest ticks.')
    .option('--limit <number>', 'maximum of ticks', parseWholeNumber, 20)
    .option('--json', 'print one JSON object a line: the schedules, then the ticks')
    .action(async (options: { limit: number; json?: true }) => {
      const { listAction } = await import('../actions/schedule.ts');
      await listAction(shell, options);
    });
  command
    .command('next')
    .description('Lists the next ticks of campaigns, by their files only; the ledger is not read.')
    .addArgument(folderArgument(shell))
    .option('--limit <number>', 'maximum of ticks', parseWholeNumber, 10)
    .option('--json', 'print one JSON object a line')
    .action(async (folder: string, options: { limit: number; json?: true }) => {
      const { nextAction } = await import('../actions/schedule.ts');
      await nextAction(shell, folder, options);
    });
}

function folderArgument(shell: Shell): Argument {
  return new Argument('[folder]', 'folder of the campaigns').default(
    campaignsFolder(shell),
    "the project's campaigns",
  );
}
