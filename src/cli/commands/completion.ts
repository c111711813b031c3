import { Argument, type Command } from 'commander';
import { completionScripts } from '../completion/scripts.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Prints a script that completes commands, options, run ids and accounts on TAB. Add its line to the start file of your shell.',
    )
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(completionScripts)))
    .action(async (name: keyof typeof completionScripts) => {
      const { completionAction } = await import('../actions/completion.ts');
      await completionAction(shell, name);
    });
  command
    .command('suggest', { hidden: true })
    // Without an argument of its own, because the word at the cursor may be empty.
    .allowExcessArguments()
    .action(async (_, { args }: Command) => {
      const { suggestAction } = await import('../actions/completion.ts');
      await suggestAction(shell, args);
    });
}
