import { randomUUID } from 'node:crypto';
import type { Check, CheckState } from '../../domain/doctor.ts';
import { diagnose } from '../../engine/doctor/diagnose.ts';
import { formatCheckCounts, formatChecks } from '../../report/doctor.ts';
import type { Shell } from '../shell.ts';

export type DoctorOptions = {
  readonly campaigns: string;
  readonly strict?: true;
  readonly quiet?: true;
  readonly json?: true;
};

export async function doctorAction(
  shell: Shell,
  { campaigns, strict, quiet, json }: DoctorOptions,
): Promise<void> {
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
