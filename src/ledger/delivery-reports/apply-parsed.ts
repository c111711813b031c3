import type { AccountSharing } from '../../domain/account-sharing.ts';
import { holdLedger } from '../location/location.ts';
import { findRequestsByMessageId } from '../requests/by-message-id.ts';
import { proveRequests, recordUnaccepted } from '../requests/prove.ts';
import type { Transaction } from '../session.ts';
import { applyOrdinary } from './apply-ordinary.ts';
import { decideOutcomes, listEarlierRecipients, lockOutcomes } from './decide.ts';
import { findRecipients } from './match.ts';
import type { MatchedRecipient } from './matched-recipient.ts';
import { type OptOut, suppressOptOuts } from './opt-outs.ts';
import { findPriceOutliers } from './price-outliers.ts';
import { requeueUnmatched } from './queue.ts';
import type { ParsedQueuedReport, ReportContent } from './report-content.ts';
import { storeDeliveries, storeReplies, storeUnreadable } from './store-content.ts';

/**
 * Applies parsed reports in the caller's transaction: stores them, decides outcomes, settles requests that they
 * prove, and suppresses addresses that opted out. A report read again replaces its earlier content. A report for a
 * recipient suppressed in its request matches and proves nothing: that message was never sent.
 *
 * Ordinary reports lock outcomes first, the others later, each in key order. Two appliers deadlock if reports of the
 * same recipients are ordinary for only one of them; Postgres aborts one, whose batch is applied again.
 *
 * @param batch in order of arrival
 */
export async function applyParsedReports(
  client: Transaction,
  batch: readonly ParsedQueuedReport[],
  sharing: AccountSharing,
  now: Date,
): Promise<void> {
  const requests = await findRequestsByMessageId(
    client,
    batch.flatMap((reading) => (reading.kind === 'unreadable' ? [] : (reading.messageId ?? []))),
  );
  const reports = await applyOrdinary(client, batch, requests);
  if (reports.length === 0) return;
  const before = await listEarlierRecipients(
    client,
    reports.map(({ report }) => report),
  );
  const deliveries = reports.filter(isOf('delivery'));
  const replies = reports.filter(isOf('inbound'));
  const named = [...deliveries, ...replies];
  const found = await findRecipients(client, named, requests, sharing.webhooks);
  const recipients = new Map<string, MatchedRecipient>();
  for (const [index, recipient] of found) recipients.set(named[index]?.report ?? '', recipient);

  const priceOutliers = await findPriceOutliers(client, deliveries, recipients);
  if (before.length > 0) await lockOutcomes(client, [...before, ...recipients.values()]);
  await storeDeliveries(client, deliveries, recipients, priceOutliers);
  await storeReplies(client, replies, { recipients, requests, webhooks: sharing.webhooks });
  await storeUnreadable(client, reports.filter(isOf('unreadable')));
  await decideOutcomes(client, deliveries, recipients, before);
  await proveAccepted(client, [...recipients.values()], now);

  const unmatched = new Set(
    deliveries.filter(({ report }) => !recipients.has(report)).map(({ report }) => report),
  );
  await suppressOptOuts(
    client,
    reports.filter(({ report }) => !unmatched.has(report)).flatMap(optOutOf),
    sharing.suppressions,
    now,
  );
  await requeueUnmatched(
    client,
    reports.filter(({ report }) => unmatched.has(report)),
    now,
  );
}

function isOf<Kind extends ReportContent['kind']>(kind: Kind) {
  return (reading: ParsedQueuedReport): reading is Extract<ParsedQueuedReport, { kind: Kind }> =>
    reading.kind === kind;
}

function optOutOf(reading: ParsedQueuedReport): OptOut[] {
  const { report, kind } = reading;
  if (kind === 'unreadable' || !reading.optedOut) return [];
  if (kind === 'delivery')
    return [{ report, source: 'report', reason: reading.result ?? reading.status, subAccount: '' }];
  const { text, subAccount } = reading;
  return [{ report, source: 'reply', reason: text.trim(), subAccount }];
}

/**
 * Settles requests that a report or reply proves: in doubt, or waiting for a resend, they become accepted; for a
 * request that is sending, the proof is kept in case its answer is lost.
 *
 * A proof of an untried request means that another copy of the ledger sent it. Then the ledger is held, so that
 * nothing is claimed, and the run is recorded: its planned requests become in doubt.
 */
async function proveAccepted(
  client: Transaction,
  recipients: readonly MatchedRecipient[],
  now: Date,
): Promise<void> {
  const unaccepted = recipients.filter(({ state }) => state !== 'accepted');
  if (unaccepted.length === 0) return;
  const proofs = unaccepted.filter(({ isProof }) => isProof);
  const proven = proofs.length === 0 ? [] : await proveRequests(client, proofs);
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
