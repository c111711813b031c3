import type { Settings } from '../engine/settings.ts';

export const colourChoices = ['auto', 'always', 'never'] as const;
export type ColourChoice = (typeof colourChoices)[number];

/** Whether a stream gets colours without `--color` (no-color.org). */
export function wantsColour({ NO_COLOR, TERM }: Settings['environment'], isTerminal: boolean): boolean {
  return isTerminal && !NO_COLOR && TERM !== 'dumb';
}
