import type { RunCounts } from '../../src/ledger/counts/run-counts.ts';

/** Of a run without requests. */
export const noCounts: RunCounts = {
  state: 'running',
  requests: {
    total: 0,
    planned: 0,
    sending: 0,
    accepted: 0,
    rejected: 0,
    failed: 0,
    in_doubt: 0,
    cancelled: 0,
    abandoned: 0,
  },
  recipients: {
    total: 0,
    pending: 0,
    accepted: 0,
    delivered: 0,
    undelivered: 0,
    rejected: 0,
    failed: 0,
    unknown: 0,
    cancelled: 0,
  },
  divided: 0,
  suppressed: 0,
  reportedUnsent: 0,
};
