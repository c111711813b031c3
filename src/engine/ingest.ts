import type { Channel } from '../domain.ts';
import { applyReports } from '../ledger/reports/apply.ts';
import type { InboxReport, Reading } from '../ledger/reports/reading.ts';
import { type DeliveryReport, decodeDeliveryReport } from '../wire/delivery-report.ts';
import type { EngineContext } from './context.ts';

/** Reports applied in one transaction. */
const batchSize = 500;

/**
 * Applies every report in the inbox that is due. Running it again changes nothing.
 *
 * @returns how many were looked at
 */
export async function applyInbox({ ledger, now }: EngineContext): Promise<number> {
  let total = 0;
  for (;;) {
    const taken = await applyReports(ledger.pool, batchSize, readReport, now());
    total += taken;
    if (taken < batchSize) return total;
  }
}

/** What the bytes of a report say. Never throws: whoever knows the address can send anything. */
function readReport({ body }: InboxReport): Reading {
  const decoded = decodeDeliveryReport(body);
  switch (decoded.kind) {
    case 'inbound': {
      const { messageId = null, destination, text } = decoded.message;
      return { kind: 'inbound', messageId, address: destination, text, optedOut: false };
    }
    case 'unreadable':
      return { kind: 'unreadable', why: decoded.why };
    case 'report':
      return readDelivery(decoded.report);
  }
}

function readDelivery(delivery: DeliveryReport): Reading {
  const { outcome, status } = delivery;
  if (outcome === 'unrecognised') return { kind: 'unreadable', why: `unknown Status "${status}"` };
  return {
    kind: 'delivery',
    messageId: delivery.messageId,
    address: delivery.destination,
    outcome,
    status,
    result: delivery.result || null,
    sentAt: delivery.sentTimeUtc ?? null,
    units: billedUnits(delivery),
    price: delivery.price ?? null,
    optedOut: false,
  };
}

/** What is counted for the invoice: SMS parts, fax pages, voice seconds, and one for an e-mail. */
function billedUnits({ type, units }: DeliveryReport): string | null {
  const unitOf: Readonly<Partial<Record<Channel, number | undefined>>> = {
    sms: units.SMSParts,
    fax: units.FaxPages,
    voice: units.VoiceSeconds,
    email: 1,
  };
  const channel = (['sms', 'fax', 'voice', 'email'] as const).find((name) => name === type.toLowerCase());
  const count = channel && unitOf[channel];
  return count === undefined ? null : String(count);
}
