import { CommanderError } from 'commander';
import { InputError, truncateProblems } from '../domain/problems.ts';
import { ReplicaError } from '../domain/replica.ts';
import { adviseUnset } from '../engine/unset-variables.ts';
import { databaseShortage, isConnectionFailure } from '../platform/database-failures.ts';
import { showInvisible } from '../platform/invisible-characters.ts';
import { printable } from '../report/printable.ts';
import { styled } from '../report/screen.ts';
import { localizeTimes } from '../report/time.ts';
import type { ExitCode } from './exit-codes.ts';
import { OutputError } from './output/output-error.ts';
import type { Shell } from './shell.ts';

/** No cell answered, or one that is away may know more. */
export class CellsAwayError extends InputError {}

/** The one place where a failure becomes an exit code. */
export function explain(error: unknown, shell: Shell): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof InputError) {
    explainInput(error, shell);
    return error instanceof CellsAwayError ? 3 : 2;
  }
  shell.note(failureText(error));
  return error instanceof ReplicaError ? 2 : 1;
}

const kept = 'What is recorded is kept.';
const next = '`volley runs` lists the runs, and `volley resume <run>` continues one.';

function failureText(error: unknown): string {
  if (error instanceof ReplicaError || error instanceof OutputError) return error.message;
  const shortage = databaseShortage(error);
  if (shortage !== undefined)
    return `Postgres cannot continue: ${shortage}. ${kept} Make room there. ${next}`;
  if (isConnectionFailure(error))
    return `The connection to the database was lost: ${printable(error.message)}. ${kept} ${next}`;
  return error instanceof Error
    ? `Internal error: ${error.stack ?? error.message}`
    : `Internal error: ${error}`;
}

/** Invisible characters are printed by their names. */
export function explainInput({ problems }: InputError, shell: Shell): void {
  for (const { where, what } of truncateProblems(problems))
    shell.note(
      `${styled(showInvisible(where), 'bad', shell.noteScreen)}: ${showInvisible(localizeTimes(shell.noteScreen, what))}`,
    );
  const advice = adviseUnset(problems, shell.settings);
  if (advice !== undefined) shell.note(showInvisible(advice));
}

/** Works after the result is recorded and printed; a lost database then changes neither result nor exit code. */
export async function afterRecording(shell: Shell, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isConnectionFailure(error)) throw error;
    shell.note(
      `The connection to the database was lost (${printable(error.message)}) after all of this was recorded. A worker, or the next \`volley run\`, sends the notifications that are due.`,
    );
  }
}
