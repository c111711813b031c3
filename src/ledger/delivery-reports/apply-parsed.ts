import type { AccountShare, AccountSharing } from '../../domain/account-sharing.ts';
import { batchOf } from '../batch.ts';
import { comparedAddress } from '../compared-address.ts';
import { holdLedger } from '../location/location.ts';
import { recipientOf, requestOf } from '../request-rows.ts';
import { findRequestsByMessageId } from '../requests/by-message-id.ts';
import { proveRequests, recordUnaccepted } from '../requests/prove.ts';
import type { Transaction } from '../session.ts';
import { applyOrdinary } from './apply-ordinary.ts';
import { decideOutcomes, listEarlierRecipients, lockOutcomes } from './decide.ts';
import { findRecipients } from './match.ts';
import { unfoldOutcomes } from './outcome-blocks.ts';
import { countPriceOutliers, findPriceOutliers } from './price-outliers.ts';
import { requeueUnmatched } from './queue.ts';
import {
  type MatchedRecipient,
  type ParsedQueuedReport,
  type ReportContent,
  sharedColumns,
} from './report-content.ts';
import { storeDeliveries, storeReplies, storeUndecided } from './store-content.ts';

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
  // Others may act on what these decide.
  await client.query('SET LOCAL synchronous_commit TO DEFAULT');
  const before = await listEarlierRecipients(
    client,
    reports.map(({ report }) => report),
  );
  const deliveries = reports.filter(isOf('delivery'));
  const replies = reports.filter(isOf('inbound'));
  const recipients = await findRecipients(client, [...deliveries, ...replies], requests, sharing.webhooks);
  const priceOutliers = await findPriceOutliers(client, deliveries, recipients);
  await countPriceOutliers(client, recipients, priceOutliers);
  if (before.length > 0) await lockOutcomes(client, [...before, ...recipients.values()]);
  else await unfoldOutcomes(client, [...recipients.values()]);
  await storeDeliveries(client, deliveries, recipients, priceOutliers);
  await storeReplies(client, replies, { recipients, requests, webhooks: sharing.webhooks });
  await storeUndecided(client, 'unreadable', reports.filter(isOf('unreadable')));
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
 * A proof of an untried request means that another copy of the ledger sent it. Then the ledger is put on hold, so
 * that nothing is claimed, and the run is recorded: its planned requests become in doubt.
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

export type OptOut = {
  readonly report: string;
  readonly source: 'reply' | 'report';
  /** In the words of the recipient or the service. */
  readonly reason: string;
  /** Of a message that matches none of ours; empty: all. */
  readonly subAccount: string;
};

const optOutColumns = batchOf<OptOut>({
  report_id: ['bigint', ({ report }) => report],
  source: ['text', ({ source }) => source],
  reason: ['text', ({ reason }) => reason],
  sub_account: ['text', ({ subAccount }) => subAccount],
});

/**
 * Suppresses recipients who opted out, in the channel, account and SubAccount of the message that they answer. A
 * reply to no known message counts for SMS, the account that received it and the SubAccount that the service names,
 * or all. Existing suppressions stay, and those that an operator removed since stay removed.
 *
 * @param shared accounts that use the suppressions of another
 */
async function suppressOptOuts(
  client: Transaction,
  optOuts: readonly OptOut[],
  shared: readonly AccountShare[],
  now: Date,
): Promise<void> {
  if (optOuts.length === 0) return;
  await client.query(
    `
    WITH opted_out AS (
      SELECT o.report_id, k.received_at, coalesce(r.channel, 'sms') AS channel,
             -- Written like addresses of recipients.
             ${comparedAddress(`coalesce(c.address, regexp_replace(k.address, '^[1-9][0-9]{6,14}$', '+\\&'))`)}
               AS address,
             coalesce(w.of, r.account, k.account) AS account,
             CASE WHEN q.request IS NULL THEN o.sub_account ELSE coalesce(e.sub_account, '') END AS sub_account,
             o.reason, k.run_id, o.source
      FROM ${optOutColumns.table('o', 4)}
      JOIN unusual_delivery_reports k USING (report_id)
      LEFT JOIN runs r USING (run_id)
      LEFT JOIN unnest($2::text[], $3::text[]) AS w (account, of) ON w.account = coalesce(r.account, k.account)
      LEFT JOIN ${requestOf('k.run_id', 'k.request')} q ON true
      LEFT JOIN envelopes e ON e.run_id = q.run_id AND e.envelope = q.envelope
      LEFT JOIN ${recipientOf('k.run_id', 'k.request', 'k.position')} c ON true
    )
    INSERT INTO suppressions (channel, address, account, sub_account, reason, run_id, source, created_at)
    SELECT DISTINCT ON (channel, address, account, sub_account)
           channel, address, account, sub_account, reason, run_id, source, $1::timestamptz
    FROM opted_out o
    WHERE NOT EXISTS (
      SELECT FROM removed_suppressions s
      WHERE s.channel = o.channel AND s.address = o.address AND s.account = o.account
        AND s.sub_account = o.sub_account AND s.removed_at >= o.received_at
    )
    ORDER BY channel, address, account, sub_account, report_id
    ON CONFLICT DO NOTHING
    `,
    [now, ...sharedColumns(shared), ...optOutColumns.values(optOuts)],
  );
}
