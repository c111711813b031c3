import type { Drawing } from './svg.ts';

export type Chart = Drawing & {
  readonly title: string;
  /** What it shows, in a sentence, for who does not see it. */
  readonly description: string;
};
