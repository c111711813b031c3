import { type InputError, shownProblems } from '../domain/problems.ts';
import { showInvisible } from '../platform/invisible-characters.ts';
import { painted } from '../report/screen.ts';
import { withTimesOn } from '../report/time.ts';
import type { Shell } from './shell.ts';

/** Mistakes in input are told with their places, and without a stack; characters that a reader does not see, by their names. */
export function explainInput({ problems }: InputError, shell: Shell): void {
  for (const { where, what } of shownProblems(problems))
    shell.note(
      `${painted(showInvisible(where), 'bad', shell.noteScreen)}: ${showInvisible(withTimesOn(shell.noteScreen, what))}`,
    );
}
