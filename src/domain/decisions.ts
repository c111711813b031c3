/** What Volley or an operator decides about a run that is watched. */
export const decisionKinds = [
  'canary promoted',
  'canary aborted',
  'canary waits',
  'guard stopped',
  'guard warned',
  'winner',
  'no winner',
] as const;
export type DecisionKind = (typeof decisionKinds)[number];

/** What decides which variant is better. */
export const winnerMeasures = ['delivered', 'replied', 'optedOut'] as const;
export type WinnerMeasure = (typeof winnerMeasures)[number];

/** What a canary limits: shares of its recipients. */
export const canaryFailures = ['rejected', 'undelivered', 'unreported'] as const;
export type CanaryFailure = (typeof canaryFailures)[number];

/** Whether Volley or a person promotes a run. */
export const canaryPromotions = ['auto', 'manual'] as const;
export type CanaryPromotion = (typeof canaryPromotions)[number];

/** How large a canary is to be. */
export type CanarySize =
  | { readonly kind: 'share'; readonly share: number }
  | { readonly kind: 'number'; readonly recipients: number };

/** Why a decision fell when it did. */
export const decisionCauses = ['evidence', 'all reports', 'time', 'operator'] as const;
export type DecisionCause = (typeof decisionCauses)[number];

/** A share of a canary's recipients, and its limit. */
export type ComparedShare = {
  readonly what: CanaryFailure;
  readonly found: number;
  /** Of so many recipients. */
  readonly of: number;
  /** The largest allowed share. */
  readonly limit: number;
  /** If the true share were the limit, so much would be seen with at most this probability, at any look. */
  readonly probability: number;
  /** The true share is smaller than this, unless the test errs (`alpha`); null: too few recipients to say. */
  readonly below: number | null;
};

/** What was counted of a variant: recipients that were undelivered, replied or opted out, of those accepted. */
export type ComparedVariant = { readonly name: string; readonly events: number; readonly trials: number };

/** What decided which variant the rest of a run gets. */
export type WinnerRecord = {
  readonly cause: Exclude<DecisionCause, 'all reports'>;
  readonly by: WinnerMeasure;
  /** How often, at most, a variant wins that is not better. */
  readonly alpha: number;
  /** Fewer events of a pair decide nothing. */
  readonly minEvents: number;
  /** Milliseconds since all were sent. */
  readonly observedMs: number;
  readonly variants: readonly ComparedVariant[];
  /** The name of the variant that the rest gets; null: a person decides. */
  readonly sends: string | null;
};

/** What decided about a canary. */
export type CanaryRecord = {
  readonly cause: DecisionCause;
  /** Milliseconds since it was sent. */
  readonly observedMs: number;
  /** How often, at most, a run is aborted by evidence although its true shares are within their limits. */
  readonly alpha: number;
  readonly shares: readonly ComparedShare[];
};
