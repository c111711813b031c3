import type { PlanProgress } from '../../src/engine/plan/plan-run.ts';

/** Progress that nobody looks at. */
export const ignoredProgress: PlanProgress = { onRead: () => {}, onExpand: () => {} };
