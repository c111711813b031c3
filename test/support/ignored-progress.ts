import type { PlanProgress } from '../../src/engine/plan/plan-run.ts';

export const ignoredProgress: PlanProgress = { onRead: () => {}, onExpand: () => {} };
