import type { RecipientState, RequestState } from '../../domain/runs.ts';

/** What a recipient's state is as long as nothing is known of it alone. */
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
