import type { Command } from 'commander';
import { type CommandModules, defineCalled } from '../command-modules.ts';
import type { Shell } from '../shell.ts';

/** In the order of `volley report --help`. */
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
  command.description('Prints reports of runs, contacts, recipients and billing.');
  await defineCalled(reports, command, shell, words);
}
