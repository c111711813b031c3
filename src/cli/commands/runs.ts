import { type Command, InvalidArgumentError } from 'commander';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description('Lists the runs, newest first.')
    .option('--limit <number>', 'maximum of runs', parseLimit, 20)
    .option('--json', 'print one JSON object a line')
    .action(async (options: { json?: true; limit: number }) => {
      const { runsAction } = await import('../actions/runs.ts');
      await runsAction(shell, options);
    });
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 10_000) return limit;
  throw new InvalidArgumentError('expected a whole number from 1 to 10000.');
}
