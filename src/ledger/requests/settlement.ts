import type { RequestReason } from '../../domain/reasons.ts';
import type { Columns } from '../batch.ts';
import { reasonValue } from '../reasons.ts';

export type Settlement = SettledState & {
  readonly run: string;
  readonly slice: number;
  /** Who holds the slice. */
  readonly owner: string;
  readonly request: number;
  readonly attempt: number;
  readonly finishedAt: Date;
  readonly httpStatus: number | null;
  readonly detail: RequestReason | null;
};

export type SettledState =
  | {
      readonly state: 'accepted';
      /** The service's own number for it, where its answer says one. */
      readonly jobNumber?: string;
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

export const settlementColumns: Columns<Settlement> = {
  run_id: ['text', ({ run }) => run],
  slice: ['integer', ({ slice }) => slice],
  owner: ['uuid', ({ owner }) => owner],
  request: ['integer', ({ request }) => request],
  attempt: ['integer', ({ attempt }) => attempt],
  finished_at: ['timestamptz', ({ finishedAt }) => finishedAt],
  http_status: ['integer', ({ httpStatus }) => httpStatus],
  detail: ['jsonb', ({ detail }) => reasonValue(detail)],
  state: ['text', ({ state }) => state],
  verdict: ['text', (settled) => (settled.state === 'planned' ? settled.verdict : settled.state)],
};
