import { InputError } from '../domain/problems.ts';
import type { StandardInput } from '../engine/settings.ts';

/** What has to be typed. */
const word = 'purge';

/**
 * Asks on the terminal.
 *
 * @throws InputError when nobody is there to be asked, or something else is typed
 */
export async function askToPurge(
  text: string,
  input: StandardInput | undefined,
  note: (text: string) => void,
): Promise<void> {
  if (!input?.isTTY) {
    const what = 'What is erased is gone for good: say --yes, where nobody can be asked. Nothing was erased.';
    throw new InputError([{ where: '--yes', what }]);
  }
  note(`${text}\nThis cannot be undone. Type "${word}" to go on:`);
  let typed = '';
  for await (const chunk of input) {
    typed += chunk.toString('utf8');
    if (typed.includes('\n')) break;
  }
  input.destroy?.();
  if (typed.trim() === word) return;
  throw new InputError([{ where: 'volley purge', what: 'Nothing was erased.' }]);
}
