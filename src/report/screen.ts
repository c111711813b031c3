import { styleText } from 'node:util';

export type Screen = {
  /** Characters of a line; undefined where lines may be of any length, as in a file. */
  readonly width: number | undefined;
  readonly colour: boolean;
  /** All times on it are in this zone, a name of the IANA database; UTC where none is given. */
  readonly zone?: string | undefined;
};

/** A file, a pipe, an e-mail. */
export const plainScreen: Screen = { width: undefined, colour: false };

export type Tone = 'title' | 'good' | 'doubtful' | 'bad';

const styles = { title: 'bold', good: 'green', doubtful: 'yellow', bad: 'red' } as const;

/** A text in the colour of its tone, where the screen has colours. */
export function styled(text: string, tone: Tone | undefined, { colour }: Screen): string {
  return colour && tone !== undefined && text !== ''
    ? styleText(styles[tone], text, { validateStream: false })
    : text;
}

const tones: Readonly<Record<string, Tone>> = {
  accepted: 'good',
  completed: 'good',
  delivered: 'good',
  paused: 'doubtful',
  unknown: 'doubtful',
  'in doubt': 'doubtful',
  in_doubt: 'doubtful',
  abandoned: 'doubtful',
  missed: 'bad',
  failed: 'bad',
  rejected: 'bad',
  undelivered: 'bad',
  cancelled: 'bad',
};

/** Of a state of a run, request, recipient or tick; the others have none. */
export function toneOf(state: string): Tone | undefined {
  return Object.hasOwn(tones, state) ? tones[state] : undefined;
}
