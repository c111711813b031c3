import { InputError } from '../../domain/problems.ts';
import { argument, defineCommand, flag, MissingArgumentError } from '../command.ts';
import { reasonOption, runArgument, sendingExits } from '../options.ts';
import { withLedger } from '../shell.ts';

export const command = defineCommand({
  description:
    'Continues a planned, paused or interrupted run. What was in flight when its process died becomes in doubt.',
  arguments: [argument('[run]', runArgument)],
  options: [
    flag(
      '--all',
      'all interrupted runs, oldest first; none that an operator paused, the service refused, or that waits for approval',
    ),
    flag('--sandbox', 'as in `volley run`; not with --all'),
    reasonOption,
    flag('--json', 'print JSON; with --all, a line for each run'),
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
