import type { Command } from 'commander';
import type { DashboardFlags } from '../actions/dashboard.ts';
import { campaignsOption, parsePort } from '../options.ts';
import type { Shell } from '../shell.ts';

const signingIn = `
Only this machine can reach it. The command makes a token of scope admin for you, revokes it when it ends, and both are in the
audit trail. For other people and machines, run volley serve, which has the same dashboard.`;

export function define(command: Command, shell: Shell): void {
  command
    .description('Shows the ledger in a browser on this machine, and signs you in.')
    .option('--port <number>', 'port that it listens on; 0: any free port', parsePort, 0)
    .option('--no-open', 'only print the address, and open no browser')
    .addOption(campaignsOption(shell))
    .addHelpText('after', signingIn)
    .action(async (flags: DashboardFlags) => {
      const { dashboardAction } = await import('../actions/dashboard.ts');
      await dashboardAction(shell, flags);
    });
}
