import type { Drawing } from './svg.ts';

/** A picture of figures, for the HTML report. */
export type Chart = Drawing & {
  readonly title: string;
  /** What it shows, in a sentence, for who does not see it. */
  readonly description: string;
};
