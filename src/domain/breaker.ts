/**
 * An open breaker: the service refuses every request of an account. Only probes are sent. Times are epoch
 * milliseconds.
 */
export type Breaker = {
  readonly openedAt: number;
  readonly retryAt: number;
  /** Refusals in a row, including the one that opened the breaker. */
  readonly refusals: number;
  readonly reason: string;
  readonly probe: Probe | null;
};

/** The right to test the account with one request. */
type Probe = {
  /** A UUID. An answer counts only while the account's row has this id. */
  readonly id: string;
  readonly expiresAt: number;
};

export type Refusal = {
  readonly since: Date;
  readonly retryAt: Date;
  readonly reason: string;
};
