import type { Drawing } from './svg.ts';

export type Chart = Drawing & {
  readonly title: string;
  /** For readers who do not see the chart. */
  readonly description: string;
};
