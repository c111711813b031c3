import type { Command } from 'commander';
import type { LimitOptions } from '../actions/account.ts';
import { lateOption } from '../late-options.ts';
import type { Shell } from '../shell.ts';

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  command.description('Shows or changes the limits of accounts.');
  command
    .command('limits')
    .description(
      'Shows or changes the rate limits of accounts, also during a run. All workers follow within half a second. A limit that is set here replaces the one of the accounts file until you set it to "file".',
    )
    .argument('[account]', 'only this account; required for a change')
    .addOption(
      await lateOption(
        words,
        '--requests-per-second <number>',
        'maximum of requests a second, such as 50 or 0.5; "file": the limit of the accounts file',
        rateLimitReader,
      ),
    )
    .addOption(
      await lateOption(
        words,
        '--recipients-per-second <number>',
        'maximum of recipients a second; "file": the limit of the accounts file',
        rateLimitReader,
      ),
    )
    .option('--json', 'print one JSON object a line')
    .action(async (account: string | undefined, options: LimitOptions) => {
      const { limitsAction } = await import('../actions/account.ts');
      await limitsAction(shell, account, options);
    });
}

const rateLimitReader = async () => (await import('../scalar-options.ts')).parseRateLimit;
