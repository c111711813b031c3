import type { PlanProgress } from '../../src/engine/plan/start-planning.ts';

export const ignoredProgress: PlanProgress = { onRead: () => {}, onExpand: () => {} };
