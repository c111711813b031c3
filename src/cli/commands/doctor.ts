import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { Check, CheckState } from '../../domain/doctor.ts';
import { diagnose } from '../../engine/doctor/diagnose.ts';
import { formatCheckCounts, formatChecks } from '../../report/doctor.ts';
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

type DoctorOptions = {
  readonly campaigns: string;
  readonly strict?: true;
  readonly quiet?: true;
  readonly json?: true;
};

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
    .action(async ({ campaigns, strict, quiet, json }: DoctorOptions) => {
      const { settings, now } = shell;
      const checks = await diagnose({
        settings,
        campaigns,
        now,
        randomUuid: randomUUID,
        nodeVersion: process.version,
      });
      const failing: readonly CheckState[] = strict ? ['problem', 'warning'] : ['problem'];
      if (json) shell.print(JSON.stringify({ state: worstOf(checks), checks }));
      else if (quiet) printSome(shell, checks.filter(isNoteworthy));
      else shell.print(`${formatChecks(checks, shell.screen)}\n\n${formatCheckCounts(checks)}`);
      if (checks.some(({ state }) => failing.includes(state))) shell.exitWith(3);
    });
}

const isNoteworthy = ({ state }: Check): boolean => state === 'problem' || state === 'warning';

/** What cron would send by e-mail: nothing, if there is nothing. */
function printSome(shell: Shell, checks: readonly Check[]): void {
  if (checks.length > 0) shell.print(formatChecks(checks, shell.screen));
}

/** What was not checked counts as ok. */
function worstOf(checks: readonly Check[]): CheckState {
  return (
    (['problem', 'warning'] as const).find((state) => checks.some((check) => check.state === state)) ?? 'ok'
  );
}
