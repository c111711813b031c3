import type { Command } from 'commander';
import type { ResumeOptions } from '../actions/resume.ts';
import { reasonOption, runArgument } from '../options.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Continues a planned, paused or interrupted run. Requests that were in flight when their process died become in doubt, and are not sent again.',
    )
    .argument('[run]', runArgument)
    .option(
      '--all',
      'all interrupted runs, one after the other, oldest first; not runs that an operator paused, that the service refused, or that wait for approval',
    )
    .option(
      '--sandbox',
      'send the rest to a sandbox that this command starts, as `volley run --sandbox` does; not with --all',
    )
    .option(...reasonOption)
    .option('--json', "print the run's summary as JSON; with --all, one line for each run")
    .action(async (run: string | undefined, options: ResumeOptions) => {
      const { resumeAction } = await import('../actions/resume.ts');
      await resumeAction(command, shell, run, options);
    });
}
