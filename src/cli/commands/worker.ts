import type { Command } from 'commander';
import type { WorkerOptions } from '../actions/worker.ts';
import { campaignsOption } from '../options.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Helps to send all runs until it is stopped, from any machine with the same DATABASE_URL and accounts. Also starts scheduled campaigns (volley schedule) and sends notifications. Ctrl-C drains: the worker records the answers to requests in flight, and leaves the rest to other workers.',
    )
    .addOption(campaignsOption(shell))
    .option('--no-schedules', 'start no scheduled campaigns')
    .action(async (options: WorkerOptions) => {
      const { workerAction } = await import('../actions/worker.ts');
      await workerAction(shell, options);
    });
}
