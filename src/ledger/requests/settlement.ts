/** How an attempt ended, and what its request becomes. */
export type Settlement = Settled & {
  readonly run: string;
  readonly slice: number;
  /** Who holds the slice. */
  readonly owner: string;
  readonly request: number;
  readonly attempt: number;
  readonly finishedAt: Date;
  readonly httpStatus: number | null;
  /** The service's words, or what went wrong; null when there is nothing to say. */
  readonly detail: string | null;
};

/** What a request becomes. */
export type Settled =
  | {
      readonly state: 'accepted';
      /** The service's own number for it, where its answer says one. */
      readonly job?: string;
    }
  | { readonly state: 'failed' | 'in_doubt' }
  | {
      readonly state: 'rejected';
      /** Whether its recipients go into two new requests, each with a half of them. */
      readonly divide: boolean;
    }
  /**
   * Given back: only for a request that the service provably did not take. `unauthorized`: the credential was refused, so
   * the run is paused too.
   */
  | { readonly state: 'planned'; readonly verdict: 'unauthorized' | 'released' };
