import { type Command, InvalidArgumentError } from 'commander';
import type { CloseOptions } from '../actions/billing.ts';
import { timeZoneOption } from '../late-options.ts';
import { parsePerson } from '../options.ts';
import type { Shell } from '../shell.ts';

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  command.description(
    'Closes months of billing, and lists closed months. `volley report billing` prints the reports.',
  );
  command
    .command('close')
    .description(
      'Closes a month: its billing report stays the same from now on. Later changes to requests of the month go to the next month, as a named correction. You close months one after the other; the first one closes all months before it.',
    )
    .argument('<month>', 'such as 2026-11', parseMonth)
    .addOption(
      await timeZoneOption(
        words,
        'time zone in which the month starts and ends, such as Pacific/Auckland (default: that of the last closed month)',
      ),
    )
    .option('--by <name>', 'the person who closes the month (default: user@host)', parsePerson)
    .option('--json', 'print the closing as JSON')
    .action(async (month: string, options: CloseOptions) => {
      const { closeAction } = await import('../actions/billing.ts');
      await closeAction(shell, month, options);
    });
  command
    .command('list')
    .description('Lists the closed months, earliest first.')
    .option('--json', 'print one JSON object a line')
    .action(async (options: { json?: true }) => {
      const { listAction } = await import('../actions/billing.ts');
      await listAction(shell, options);
    });
}

function parseMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('expected a month such as 2026-11.');
}
