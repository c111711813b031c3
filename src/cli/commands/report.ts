import type { Command } from 'commander';
import { type CommandModules, defineCalled } from '../command-modules.ts';
import type { Shell } from '../shell.ts';

/** Every report, in the order of `volley report --help`. */
const reports: CommandModules = {
  run: () => import('./report-run.ts'),
  campaigns: () => import('./report-campaigns.ts'),
  contacts: () => import('./report-contacts.ts'),
  failures: () => import('./report-failures.ts'),
  recipient: () => import('./report-recipient.ts'),
  billing: () => import('./report-billing.ts'),
  reconcile: () => import('./report-reconcile.ts'),
};

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  command.description('Reports of what was sent and what it cost.');
  await defineCalled(reports, command, shell, words);
}
