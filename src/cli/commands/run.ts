import { type Command, Option } from 'commander';
import { rerunStates } from '../../domain/runs.ts';
import type { RunOptions } from '../actions/run.ts';
import {
  addContactsOption,
  addLimitOption,
  addOriginOption,
  addTestOption,
  wordsReader,
} from '../options.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  const also = '; with --only, the run to rerun';
  addTestOption(addLimitOption(addOriginOption(addContactsOption(command), also)))
    .description(
      'Makes a new run of a campaign and sends it. Ctrl-C drains: Volley records the answers to requests in flight, and `volley resume` continues the run.',
    )
    .argument(
      '[campaign]',
      'the campaign: its file (YAML), or its name in the folder campaigns; omit it with --only',
    )
    .option(
      '--only <states>',
      `with --of and no campaign: send again, with new MessageIDs, to the recipients of a run in these states (${rerunStates.join(',')})`,
      wordsReader(rerunStates),
    )
    .option(
      '--again',
      'run even if an earlier run sent the same message to the same contacts within dispatch.repeat (default: 12h)',
    )
    .addOption(
      new Option(
        '--plan <file>',
        'run the plan file of `volley plan --out`, with its campaign and contacts: sends exactly what was planned, or refuses and says what has changed',
      ).conflicts(['contacts', 'of', 'only', 'limit', 'testTo']),
    )
    .option(
      '--sandbox',
      'send to a sandbox that this command starts, wait for the delivery reports, and stop it; the account must be one of the sandbox',
    )
    .option('--json', "print the run's summary as JSON")
    .action(async (path: string | undefined, options: RunOptions) => {
      const { runAction } = await import('../actions/run.ts');
      await runAction(command, shell, path, options);
    });
}
