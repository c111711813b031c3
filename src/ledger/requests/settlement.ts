import type { RequestReason } from '../../domain/reasons.ts';
import type { Columns } from '../batch.ts';
import { reasonValue } from '../reasons.ts';

export type Settlement = SettledState & {
  readonly run: string;
  readonly slice: number;
  /** Of the slice. */
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
      /** The service's number for the request, if it answers one. */
      readonly jobNumber?: string;
    }
  | { readonly state: 'failed' | 'in_doubt' }
  | {
      readonly state: 'rejected';
      /** Whether to divide its recipients into two new requests. */
      readonly divide: boolean;
    }
  /** The service provably did not accept the request. `unauthorized` also pauses the run. */
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
