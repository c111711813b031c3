import { randomUUID } from 'node:crypto';
import { asksForPerson, type Check, type CheckState } from '../../domain/doctor.ts';
import { servePorts } from '../../domain/ports.ts';
import type { Cell } from '../../engine/cells/cells-file.ts';
import { defineCommand, flag } from '../command.ts';
import { campaignsFolder, campaignsOption, jsonFlag } from '../options.ts';
import type { Shell } from '../shell.ts';

export const command = defineCommand({
  description: 'Checks the installation and what waits for an operator, each with the next step.',
  details: `Each line has a state, a name, what was found, and the next step:
  ok           nothing to do
  warning      works, but an operator should look at it
  problem      something is not sent, not received, or soon will not be
  not checked  could not be found out; the line says why

All checks together take 10 seconds at most. They only read: nothing is made, migrated, started or sent. A stopped embedded
server is started for a moment, as by every command.`,
  options: [
    campaignsOption,
    flag('--strict', 'exit with 3 for warnings too'),
    flag('--quiet', 'print warnings and problems only'),
    jsonFlag,
  ],
  exits: { 3: 'there is a problem; with --strict, also a warning' },
  examples: [
    ['volley doctor', 'every check, with the next steps'],
    ['volley doctor --quiet --strict', 'for cron: warnings and problems only'],
    ['volley doctor --json', 'for monitoring'],
  ],
  run: async (shell, _, { campaigns = campaignsFolder(shell), strict, quiet, json }) => {
    const { diagnose } = await import('../../engine/doctor/diagnose.ts');
    const { formatCheckCounts, formatChecks } = await import('../../report/doctor.ts');
    const { cellsOf } = await import('../cells.ts');
    const { settings, now, screen, print } = shell;
    const cells = await cellsOf(shell);
    const { findDatabases } = await import('../../engine/cells/ask-cells.ts');
    const diagnosing = diagnose({
      settings,
      campaigns,
      now,
      randomUuid: randomUUID,
      nodeVersion: process.version,
      apiPort: servePorts.api,
      cells: cells && findDatabases(cells, 'read', settings),
    });
    const ofMonths = cells ? [await checkClosedMonths(shell, cells)] : [];
    const checks = [...(await diagnosing), ...ofMonths];
    const failing: readonly CheckState[] = strict ? ['problem', 'warning'] : ['problem'];
    const noteworthy = checks.filter(asksForPerson);
    if (json) {
      const { nextStepText } = await import('../../domain/next-step.ts');
      const written = checks.map((each) => ({
        ...each,
        nextStep: each.nextStep && nextStepText(each.nextStep),
      }));
      // What was not checked counts as ok.
      const worst = (['problem', 'warning'] as const).find((state) =>
        checks.some((each) => each.state === state),
      );
      print(JSON.stringify({ state: worst ?? 'ok', checks: written }));
    } else if (!quiet) print(`${formatChecks(checks, screen)}\n\n${formatCheckCounts(checks)}`);
    // What cron would send by e-mail: nothing, if there is nothing.
    else if (noteworthy.length > 0) print(formatChecks(noteworthy, screen));
    if (checks.some(({ state }) => failing.includes(state))) shell.exitWith(3);
  },
});

async function checkClosedMonths(shell: Shell, cells: readonly Cell[]): Promise<Check> {
  const { askAnd } = await import('../cells.ts');
  const { checkMonths } = await import('../../engine/cells/close-month.ts');
  const { listClosings } = await import('../../ledger/billing/close.ts');
  const { parts, away } = await askAnd(shell, cells, 'read', ({ ledger }) => listClosings(ledger.pool));
  const check = checkMonths(parts);
  if (away.length === 0) return check;
  const state = check.state === 'ok' ? 'not checked' : check.state;
  return {
    ...check,
    state,
    found: `${check.found} Not asked: ${away.map(({ cell }) => cell.name).join(', ')}.`,
  };
}
