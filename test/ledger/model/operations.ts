import { advanceSlices } from '../../../src/ledger/requests/advance.ts';
import { acquireSlice } from '../../../src/ledger/slices/acquire.ts';
import { reclaimSlicesOfEndedWorkers } from '../../../src/ledger/slices/reclaim.ts';
import { claimRequests, settleRequests, startNextAttempt } from '../../support/requests.ts';

/** What the rules of design.md rest upon: the ledger's own functions, or worse ones in their place. */
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
  /** Right after the first byte of a request has left. */
  readonly afterSending?: () => Promise<void>;
  /** Leaves nothing open. */
  readonly beforeClosing?: () => Promise<void>;
};
