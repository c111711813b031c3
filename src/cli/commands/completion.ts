import { argument, defineCommand } from '../command.ts';
import { completionScripts } from '../completion/scripts.ts';

export const command = defineCommand({
  description:
    'Prints a script for the start file of your shell that completes commands, options, run ids and accounts on TAB.',
  arguments: [argument('<shell>', 'your shell', { choices: ['bash', 'zsh', 'fish'] })],
  examples: [
    ['eval "$(volley completion bash)"', 'complete in this bash'],
    ['volley completion fish | source', 'complete in this fish'],
  ],
  run: async (shell, [name]) => shell.print(completionScripts[name].trimEnd()),
});
