import type { AccountSharing } from '../../domain/accounts.ts';
import { findNamedRequests } from '../requests/named.ts';
import type { Transaction } from '../session.ts';
import { decideOutcomes, listReportedBefore, lockOutcomes } from './decide.ts';
import { findFarPrices } from './far-prices.ts';
import { lookAgain } from './inbox.ts';
import { keepDeliveries } from './keep.ts';
import { findRecipients } from './match.ts';
import type { MatchedRecipient } from './matched.ts';
import { type OptOut, suppressOptOuts } from './opt-outs.ts';
import { applyOrdinary } from './ordinary.ts';
import { keepInbound, keepUnreadable } from './others.ts';
import { proveAccepted } from './prove.ts';
import type { QueuedReading, Reading } from './reading.ts';

/**
 * Works readings of reports into the ledger, within the caller's transaction: keeps what each says, decides what became of
 * their recipients, settles what they prove, and suppresses addresses that have opted out. What is read again replaces its
 * earlier reading. A report for a recipient that was left out of its request is about a message that was never sent: it
 * matches no recipient and proves nothing.
 *
 * Ordinary reports lock outcomes first, the others after them, each in the order of the key. So two appliers can wait
 * crosswise where reports of the same recipients are ordinary to one and not to the other; Postgres then ends one of them,
 * whose batch is applied again.
 *
 * @param batch in the order of their arrival
 */
export async function applyReadings(
  client: Transaction,
  batch: readonly QueuedReading[],
  sharing: AccountSharing,
  now: Date,
): Promise<void> {
  const requests = await findNamedRequests(
    client,
    batch.flatMap((reading) => (reading.kind === 'unreadable' ? [] : (reading.messageId ?? []))),
  );
  const readings = await applyOrdinary(client, batch, requests);
  if (readings.length === 0) return;
  const before = await listReportedBefore(
    client,
    readings.map(({ report }) => report),
  );
  const deliveries = readings.filter(isOf('delivery'));
  const inbound = readings.filter(isOf('inbound'));
  const named = [...deliveries, ...inbound];
  const places = await findRecipients(client, named, requests, sharing.webhooks);
  const recipients = new Map<string, MatchedRecipient>();
  for (const [place, recipient] of places) recipients.set(named[place]?.report ?? '', recipient);

  const farPrices = await findFarPrices(client, deliveries, recipients);
  if (before.length > 0) await lockOutcomes(client, [...before, ...recipients.values()]);
  await keepDeliveries(client, deliveries, recipients, farPrices);
  await keepInbound(client, inbound, recipients, requests, sharing.webhooks);
  await keepUnreadable(client, readings.filter(isOf('unreadable')));
  await decideOutcomes(client, deliveries, recipients, before);
  await proveAccepted(client, [...recipients.values()], now);

  const unmatched = new Set(
    deliveries.filter(({ report }) => !recipients.has(report)).map(({ report }) => report),
  );
  await suppressOptOuts(
    client,
    readings.filter(({ report }) => !unmatched.has(report)).flatMap(optOutOf),
    sharing.suppressions,
    now,
  );
  await lookAgain(
    client,
    readings.filter(({ report }) => unmatched.has(report)),
    now,
  );
}

function isOf<Kind extends Reading['kind']>(kind: Kind) {
  return (reading: QueuedReading): reading is Extract<QueuedReading, { kind: Kind }> => reading.kind === kind;
}

function optOutOf(reading: QueuedReading): OptOut[] {
  const { report, kind } = reading;
  if (kind === 'unreadable' || !reading.optedOut) return [];
  if (kind === 'delivery')
    return [{ report, source: 'report', reason: reading.result ?? reading.status, subAccount: '' }];
  const { text, subAccount } = reading;
  return [{ report, source: 'reply', reason: text.trim(), subAccount }];
}
