import { InputError } from '../../domain/problems.ts';
import { argument, defineCommand, flag, MissingArgumentError } from '../command.ts';
import { reasonOption, runArgument, sendingExits } from '../options.ts';
import { withLedger } from '../shell.ts';

export const command = defineCommand({
  description:
    'Continues a planned, paused or interrupted run. Requests that were in flight when their process died become in doubt.',
  arguments: [argument('[run]', runArgument)],
  options: [
    flag(
      '--all',
      'all interrupted runs, one after the other, oldest first; not runs that an operator paused, that the service refused, or that wait for approval',
    ),
    flag('--sandbox', 'send to a sandbox, as `volley run --sandbox` does; not with --all'),
    reasonOption,
    flag('--json', "print the run's summary as JSON; with --all, one line for each run"),
  ],
  exits: sendingExits,
  examples: [
    ['volley resume latest', 'continue the newest run'],
    ['volley resume --all', 'continue every interrupted run, as from cron'],
  ],
  run: async (shell, [run], { all, sandbox = false, reason, json = false }) => {
    const { resumeAll, resumeNamed } = await import('../runs/resume-runs.ts');
    if ((run === undefined) === (all === undefined))
      throw new MissingArgumentError("Expected either <run>, the run's id (volley runs), or --all.");
    if (run !== undefined) return resumeNamed(shell, run, { sandbox, reason, json });
    if (sandbox) throw new InputError([{ where: '--sandbox', what: 'It needs one <run>, not --all.' }]);
    await withLedger(shell, (context) => resumeAll(shell, context, { reason, json }));
  },
});
