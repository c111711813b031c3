/** What Volley or an operator decides about a run that is watched. */
export const decisionKinds = [
  'canary promoted',
  'canary aborted',
  'guard stopped',
  'guard warned',
  'winner',
  'no winner',
] as const;
export type DecisionKind = (typeof decisionKinds)[number];

/** What a canary limits: shares of its recipients. */
export const canaryFailures = ['rejected', 'undelivered', 'unreported'] as const;
export type CanaryFailure = (typeof canaryFailures)[number];
