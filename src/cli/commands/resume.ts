import type { Command } from 'commander';
import { InputError } from '../../domain/problems.ts';
import type { EngineContext } from '../../engine/context.ts';
import { loadAccount } from '../../engine/load-account.ts';
import { nothingLeftText } from '../../engine/runs/begin-run.ts';
import { type KnownEnd, refuseFinishedRun } from '../../engine/runs/execute-run.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import { requireReachable } from '../../engine/runs/require-reachable.ts';
import { listInterruptedRuns, type Run } from '../../ledger/runs/find.ts';
import { dispatchAndPrint, exitCodeOf, printEnd } from '../dispatch-and-print.ts';
import { explainInput } from '../explain-input.ts';
import { type ExitCode, type Shell, withLedger } from '../shell.ts';
import { failMissingArgument } from '../usage-errors.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Goes on with a planned, paused or interrupted run. Requests that were on their way when the process died become in_doubt and are not sent again.',
    )
    .argument('[run]', "the run's id (volley runs)")
    .option(
      '--all',
      'every run that was interrupted, one after the other, the oldest first; not those that somebody paused, that were refused, or that wait for approval',
    )
    .option('--json', "print the run's summary as JSON, of several runs one a line")
    .action(async (run: string | undefined, { all, json }: { all?: true; json?: true }) => {
      if ((run === undefined) === (all === undefined))
        failMissingArgument(command, "<run> is missing: the run's id (volley runs), or --all; not both.");
      await withLedger(shell, async (context) => {
        if (run === undefined) return resumeAll(shell, context, json === true);
        const found = await requireRun(context, run);
        const end = await refuseFinishedRun(context, found);
        shell.exitWith(
          end
            ? printOver(shell, found, end, json === true)
            : await resume(shell, context, found, json === true),
        );
      });
    });
}

async function resume(
  shell: Shell,
  context: EngineContext,
  { run, account: name }: { readonly run: string; readonly account: string },
  json: boolean,
): Promise<ExitCode> {
  const account = await loadAccount(name, shell.settings);
  await requireReachable(account);
  return dispatchAndPrint(shell, context, run, account, { json });
}

/** Whichever process has sent or stopped the run: its own summary and exit code. */
function printOver(shell: Shell, { run, state }: Run, end: KnownEnd, json: boolean): ExitCode {
  shell.note(`run ${run}: ${nothingLeftText(state)}`);
  printEnd(shell, run, end, json);
  return exitCodeOf(end);
}

/** Of several runs, the code of the one that went worst. */
const bestFirst: readonly ExitCode[] = [0, 3, 4, 2, 1, 130];

/** What is wrong with one run keeps no other from going on. */
async function resumeAll(shell: Shell, context: EngineContext, json: boolean): Promise<void> {
  const runs = await listInterruptedRuns(context.ledger.pool);
  if (runs.length === 0) shell.note('No run was interrupted.');
  let worst: ExitCode = 0;
  for (const run of runs) {
    if (shell.stop.aborted) break;
    const code = await resume(shell, context, run, json).catch((error: unknown): ExitCode => {
      if (!(error instanceof InputError)) throw error;
      shell.note(`run ${run.run} is left as it is:`);
      explainInput(error, shell);
      return 2;
    });
    if (bestFirst.indexOf(code) > bestFirst.indexOf(worst)) worst = code;
  }
  shell.exitWith(worst);
}
