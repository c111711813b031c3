import type { RecipientState, RequestState } from '../../domain/runs.ts';

/** The state of a recipient without an outcome of its own. */
export const recipientStateOf: Readonly<Record<RequestState, RecipientState>> = {
  planned: 'pending',
  sending: 'pending',
  accepted: 'accepted',
  rejected: 'rejected',
  failed: 'failed',
  in_doubt: 'unknown',
  cancelled: 'cancelled',
  abandoned: 'unknown',
};
