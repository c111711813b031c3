import type { Command } from 'commander';
import type { DoctorOptions } from '../actions/doctor.ts';
import { campaignsOption } from '../options.ts';
import type { Shell } from '../shell.ts';

const states = `
Each line has a state, a name, what was found, and the next step:
  ok           nothing to do
  warning      works, but an operator should look at it
  problem      something is not sent, not received, or soon will not be
  not checked  could not be found out; the line says why

Exit codes, for cron and monitoring: 0 without problems, 3 with at least one; with --strict also for warnings.

All checks together take 10 seconds at most. They only read: nothing is made, migrated, started or sent. A stopped embedded
server is started for a moment, as by every command.`;

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Checks the installation: Node, project, database and ledger, accounts and their services, the receiver of delivery reports, workers, schedules and what waits for an operator.',
    )
    .addOption(campaignsOption(shell))
    .option('--strict', 'exit with 3 for warnings too')
    .option('--quiet', 'print warnings and problems only')
    .option('--json', 'print one object with all checks as JSON')
    .addHelpText('after', states)
    .action(async (options: DoctorOptions) => {
      const { doctorAction } = await import('../actions/doctor.ts');
      await doctorAction(shell, options);
    });
}
