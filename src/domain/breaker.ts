/**
 * An account whose service refuses everything it is asked (503, 429, no connection). While it is open nothing is sent
 * through the account but one request now and then that tries again. Times are milliseconds since 1970.
 */
export type Breaker = {
  readonly openedAt: number;
  readonly retryAt: number;
  /** How often the service was found to refuse, the opening included. */
  readonly refusals: number;
  /** The last refusal, in a few words. */
  readonly reason: string;
  /** The request that tries again. */
  readonly probe: Probe | null;
};

/** The right to try an account again with one request. */
export type Probe = {
  /** A UUID: an answer counts only where the account's row still has it, so an answer to an earlier probe does not. */
  readonly id: string;
  /** Until when the answer is waited for; after that another request may try. */
  readonly expiresAt: number;
};

export type Refusal = {
  readonly since: Date;
  readonly retryAt: Date;
  readonly reason: string;
};
