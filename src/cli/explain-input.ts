import type { InputError } from '../domain/problems.ts';
import { printable } from '../report/printable.ts';
import { painted } from '../report/screen.ts';
import type { Shell } from './shell.ts';

/** Mistakes in input are told with their places, and without a stack. */
export function explainInput({ problems }: InputError, shell: Shell): void {
  for (const { where, what } of problems)
    shell.note(`${painted(printable(where), 'bad', shell.noteScreen)}: ${printable(what)}`);
}
