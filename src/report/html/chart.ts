import type { Drawing } from './svg.ts';

export type Chart = Drawing & {
  readonly title: string;
  /** For readers who do not see the chart. */
  readonly description: string;
  readonly table: ChartTable;
};

/** The figures of a chart, as they are drawn. */
export type ChartTable = {
  readonly titles: readonly [string, string];
  readonly lines: readonly (readonly [string, string])[];
};
