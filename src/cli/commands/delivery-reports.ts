import { type Command, Option } from 'commander';
import { deliveryReportStates } from '../../domain/delivery-reports.ts';
import type { ListOptions, MissingOptions, ReplayOptions } from '../actions/delivery-reports.ts';
import { durationReader, lateOption } from '../late-options.ts';
import { addListOptions } from '../list-options.ts';
import { parseTime } from '../options.ts';
import type { Shell } from '../shell.ts';
import { definePoll } from './delivery-reports-poll.ts';

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  command.description(
    'Lists delivery reports and replies, lists missing delivery reports and looks them up, and replays stored ones.',
  );
  defineList(command, shell);
  await defineMissing(command, shell, words);
  definePoll(command, shell);
  defineReplay(command, shell);
}

function defineList(command: Command, shell: Shell): void {
  addListOptions(addRunOption(command.command('list')))
    .description(
      'Lists delivery reports in the order of arrival: conflicting, unmatched, unreadable (or with an unreadable price) and failed ones, and replies.',
    )
    .addOption(
      new Option('--state <state...>', 'delivery reports in these states instead').choices(
        deliveryReportStates,
      ),
    )
    .option('--account <name>', 'only of this account')
    .option('--address <address>', 'only of this address, as the service writes it')
    .action(async (options: ListOptions) => {
      const { listAction } = await import('../actions/delivery-reports.ts');
      await listAction(shell, options);
    });
}

async function defineMissing(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  addListOptions(addRunOption(command.command('missing')))
    .description('Lists accepted recipients without a final delivery report, oldest first.')
    .addOption(
      (
        await lateOption(words, '--older-than <duration>', 'accepted at least this long ago', durationReader)
      ).default(0),
    )
    .action(async (options: MissingOptions) => {
      const { missingAction } = await import('../actions/delivery-reports.ts');
      await missingAction(shell, options);
    });
}

function defineReplay(command: Command, shell: Shell): void {
  command
    .command('replay')
    .description(
      'Applies unreadable, failed and unmatched delivery reports again. No delivery report counts twice.',
    )
    .option('--account <name>', 'only of this account')
    .option(
      '--since <time>',
      'only delivery reports received from this time on, such as 2026-11-21 or 2026-11-21T08:00:00Z',
      parseTime,
    )
    .option('--all', 'replay all, also applied ones')
    .option('--json', 'print the result as JSON')
    .action(async (options: ReplayOptions) => {
      const { replayAction } = await import('../actions/delivery-reports.ts');
      await replayAction(shell, options);
    });
}

function addRunOption(command: Command): Command {
  return command.option('--run <run>', 'only of this run: its id, the beginning of it, or `latest`');
}
