import { advanceSlices } from '../../../src/ledger/requests/advance.ts';
import { acquireSlice } from '../../../src/ledger/slices/acquire.ts';
import { reclaimSlicesOfEndedWorkers } from '../../../src/ledger/slices/reclaim.ts';
import { claimRequests, settleRequests, startNextAttempt } from '../../support/requests.ts';

/** The ledger's functions that the rules depend on; a mutation replaces some. */
export const operations = {
  acquireSlice,
  advanceSlices,
  claimRequests,
  reclaimSlicesOfEndedWorkers: reclaimSlicesOfEndedWorkers,
  settleRequests,
  startNextAttempt,
};
export type Operations = typeof operations;

/** A ledger that breaks a rule. */
export type Mutation = Partial<Operations> & {
  /** Called after the first byte of a request was sent. */
  readonly afterSending?: () => Promise<void>;
  /** Closes what the mutation opened. */
  readonly beforeClosing?: () => Promise<void>;
};
