import { type InputError, truncateProblems } from '../domain/problems.ts';
import { adviseUnset } from '../engine/unset-variables.ts';
import { showInvisible } from '../platform/invisible-characters.ts';
import { styled } from '../report/screen.ts';
import { localizeTimes } from '../report/time.ts';
import type { Shell } from './shell.ts';

/** Invisible characters are printed by their names. */
export function explainInput({ problems }: InputError, shell: Shell): void {
  for (const { where, what } of truncateProblems(problems))
    shell.note(
      `${styled(showInvisible(where), 'bad', shell.noteScreen)}: ${showInvisible(localizeTimes(shell.noteScreen, what))}`,
    );
  const advice = adviseUnset(problems, shell.settings);
  if (advice !== undefined) shell.note(showInvisible(advice));
}
