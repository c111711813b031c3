import { InputError } from '../../domain/problems.ts';
import { isLeftToPerson } from '../../domain/waits.ts';
import type { EngineContext } from '../../engine/context.ts';
import { loadAccount } from '../../engine/load-definition.ts';
import { nothingLeftText } from '../../engine/runs/begin-run.ts';
import { type KnownEnd, refuseFinishedRun } from '../../engine/runs/execute-run.ts';
import { requireReachable } from '../../engine/runs/require-reachable.ts';
import { listUnfinishedRuns, type Run } from '../../ledger/runs/find.ts';
import type { ExitCode } from '../exit-codes.ts';
import { explainInput } from '../failures.ts';
import type { Shell } from '../shell.ts';
import { dispatchAndPrint, exitCodeOf, printEnd } from './dispatch-and-print.ts';
import { withRunSurroundings } from './surroundings.ts';

type How = Pick<Parameters<typeof dispatchAndPrint>[2], 'json' | 'awaitReports' | 'reason'>;

/** @param run as the user named it */
export async function resumeNamed(
  shell: Shell,
  run: string,
  { sandbox, ...how }: How & { readonly sandbox: boolean },
): Promise<void> {
  await withRunSurroundings(
    shell,
    sandbox,
    { name: run },
    async ({ shell: around, awaitReports }, context, found) => {
      const end = await refuseFinishedRun(context, found);
      if (end) return around.exitWith(printOver(around, found, end, how.json));
      around.exitWith(await resume(around, context, found, { ...how, awaitReports }));
    },
  );
}

async function resume(
  shell: Shell,
  context: EngineContext,
  { run, account: name }: { readonly run: string; readonly account: string },
  how: How,
): Promise<ExitCode> {
  const account = await loadAccount(name, shell.settings);
  await requireReachable(account);
  return dispatchAndPrint(shell, context, { run, account, ...how });
}

/** Any process may have sent or stopped the run. */
function printOver(shell: Shell, { run, state }: Run, end: KnownEnd, json: boolean): ExitCode {
  shell.note(
    `run ${run}: ${nothingLeftText(state)} \`volley status ${run} --exit-status\` shows it; resume does so for one more version.`,
  );
  printEnd(shell, run, end, json);
  return exitCodeOf(end);
}

const bestFirst: readonly ExitCode[] = [0, 3, 4, 2, 1, 130];

/** Resumes every interrupted run. An error of one run does not stop the others. */
export async function resumeAll(shell: Shell, context: EngineContext, how: How): Promise<void> {
  const unfinished = await listUnfinishedRuns(context.ledger.pool);
  const runs = unfinished.filter((run) => !isLeftToPerson(run));
  if (runs.length === 0) shell.note('There is no interrupted run.');
  let worst: ExitCode = 0;
  for (const run of runs) {
    if (shell.stop.aborted) break;
    const code = await resume(shell, context, run, how).catch((error: unknown): ExitCode => {
      if (!(error instanceof InputError)) throw error;
      shell.note(`Run ${run.run} was not resumed:`);
      explainInput(error, shell);
      return 2;
    });
    if (bestFirst.indexOf(code) > bestFirst.indexOf(worst)) worst = code;
  }
  shell.exitWith(worst);
}
