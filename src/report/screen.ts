import { styleText } from 'node:util';

export type Screen = {
  /** In characters; undefined in a file, where lines may have any length. */
  readonly width: number | undefined;
  readonly colour: boolean;
  /** IANA name of the zone of all times; UTC by default. */
  readonly zone?: string | undefined;
};

/** What files, pipes and e-mails are. */
export const plainScreen: Screen = { width: undefined, colour: false };

/** Whether a stream gets colours without `--color` (no-color.org). */
export function wantsColour(
  { NO_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  return isTerminal && !NO_COLOR && TERM !== 'dumb';
}

export type Tone = 'title' | 'good' | 'doubtful' | 'bad';

const styles = { title: 'bold', good: 'green', doubtful: 'yellow', bad: 'red' } as const;

export function styled(text: string, tone: Tone | undefined, { colour }: Screen): string {
  return colour && tone !== undefined && text !== ''
    ? styleText(styles[tone], text, { validateStream: false })
    : text;
}

const tones: Readonly<Record<string, Tone>> = {
  accepted: 'good',
  completed: 'good',
  delivered: 'good',
  'completed with unknown': 'doubtful',
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

/** Chooses the colour of a state of a run, request, recipient or tick. */
export function toneOf(state: string): Tone | undefined {
  return Object.hasOwn(tones, state) ? tones[state] : undefined;
}
