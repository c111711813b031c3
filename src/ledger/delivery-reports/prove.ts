import type { RequestState } from '../../domain/runs.ts';
import { holdLedger } from '../location/location.ts';
import { proveRequests, recordUnaccepted } from '../requests/prove.ts';
import type { Transaction } from '../session.ts';
import type { MatchedRecipient } from './matched-recipient.ts';

const unprovenStates: readonly RequestState[] = ['planned', 'sending', 'in_doubt'];

/**
 * Settles requests that a report or reply proves: in doubt, or waiting for a resend, they become accepted; for a
 * request that is sending, the proof is kept in case its answer is lost.
 *
 * A proof of an untried request means that another copy of the ledger sent it. Then the ledger is held, so that
 * nothing is claimed, and the run is recorded: its planned requests become in doubt.
 */
export async function proveAccepted(
  client: Transaction,
  recipients: readonly MatchedRecipient[],
  now: Date,
): Promise<void> {
  const unaccepted = recipients.filter(({ state }) => state !== 'accepted');
  if (unaccepted.length === 0) return;
  const requests = unaccepted.filter(({ isProof, state }) => isProof && unprovenStates.includes(state));
  const proven = requests.length === 0 ? [] : await proveRequests(client, requests);
  await recordUnaccepted(client, unaccepted);
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
