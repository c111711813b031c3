import { styleText } from 'node:util';

export type Screen = {
  /** In characters; undefined in a file, where lines may have any length. */
  readonly width: number | undefined;
  readonly colour: boolean;
  /** IANA name of the zone of all times; UTC by default. */
  readonly zone?: string | undefined;
};

/** For files, pipes and e-mails. */
export const plainScreen: Screen = { width: undefined, colour: false };

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

/** For states of runs, requests, recipients and ticks. */
export function toneOf(state: string): Tone | undefined {
  return Object.hasOwn(tones, state) ? tones[state] : undefined;
}
