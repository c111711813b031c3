/** How fast an account may be sent, over all workers; null means no limit. */
export type RateLimits = {
  readonly requestsPerSecond: number | null;
  readonly recipientsPerSecond: number | null;
};
