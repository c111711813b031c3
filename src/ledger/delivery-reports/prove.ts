import type { RequestState } from '../../domain/runs.ts';
import { holdLedger } from '../location/location.ts';
import { proveRequests } from '../requests/prove.ts';
import type { Transaction } from '../session.ts';
import type { MatchedRecipient } from './matched-recipient.ts';

const unprovenStates: readonly RequestState[] = ['planned', 'sending', 'in_doubt'];

/**
 * A report or a reply proves that the service accepted the request: one that is in doubt, or waits to be sent again after a doubt, is
 * accepted, and of one that is being sent it is kept for the case that its answer is lost.
 *
 * Where the ledger never tried the request, another one did: this one was restored from a backup, or is a copy. Then it is
 * held, so that nothing more is claimed from it, and the run is noted: what is planned of it is to be in doubt.
 */
export async function proveAccepted(
  client: Transaction,
  recipients: readonly MatchedRecipient[],
  now: Date,
): Promise<void> {
  const requests = recipients.filter(({ isProof, state }) => isProof && unprovenStates.includes(state));
  if (requests.length === 0) return;
  const proven = await proveRequests(client, requests);
  const untried = proven.filter(({ isUntried }) => isUntried);
  if (untried.length > 0) await recordUntriedProofs(client, untried, now);
}

async function recordUntriedProofs(
  client: Transaction,
  untried: readonly { readonly run: string; readonly messageId: string }[],
  now: Date,
): Promise<void> {
  const proofs = new Map(untried.map(({ run, messageId }) => [run, messageId]));
  await client.query(
    `INSERT INTO untried_proofs (run_id, message_id)
     SELECT * FROM unnest($1::text[], $2::text[])
     ON CONFLICT DO NOTHING`,
    [[...proofs.keys()], [...proofs.values()]],
  );
  await holdLedger(client, { reason: { kind: 'lacks_attempt' }, incomplete: true }, now);
}
