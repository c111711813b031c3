import type { Command } from 'commander';
import type { DemoFlags } from '../actions/demo.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Runs the example campaigns against the sandbox, waits for the delivery reports, and prints the cost.',
    )
    .option('--interfaces', 'instead, run a small campaign for every other interface, format and channel')
    .option('--dashboard', 'send slowly, print the address of a dashboard, and keep it until Ctrl-C')
    .action(async (options: DemoFlags) => {
      const { demoAction } = await import('../actions/demo.ts');
      await demoAction(shell, options);
    });
}
