import type { Channel } from '../domain.ts';
import { applyReports, type InboxReport, type ReadReport } from '../ledger/reports/apply.ts';
import { type DeliveryReport, decodeDeliveryReport } from '../wire/delivery-report.ts';
import type { EngineContext } from './context.ts';

/** Reports applied in one transaction. */
const batchSize = 500;

/**
 * Applies every report in the inbox that has not been looked at. Running it again changes nothing.
 *
 * @returns how many were looked at
 */
export async function applyInbox({ ledger }: EngineContext): Promise<number> {
  let total = 0;
  for (;;) {
    const taken = await applyReports(ledger.pool, batchSize, readReport);
    total += taken;
    if (taken < batchSize) return total;
  }
}

/** What the bytes of a report say. Never throws: whoever knows the address can send anything. */
function readReport({ report, body }: InboxReport): ReadReport {
  const decoded = decodeDeliveryReport({ method: 'POST', contentType: '', body });
  switch (decoded.kind) {
    case 'inbound':
      return { report, kind: 'inbound' };
    case 'unreadable':
      return { report, kind: 'unreadable', why: decoded.why };
    case 'report':
      return readDelivery(report, decoded.report);
  }
}

function readDelivery(report: string, delivery: DeliveryReport): ReadReport {
  if (delivery.outcome === 'unrecognised') {
    return { report, kind: 'unreadable', why: `unknown Status "${delivery.status}"` };
  }
  return {
    report,
    kind: 'delivery',
    messageId: delivery.messageId,
    address: delivery.destination,
    outcome: delivery.outcome,
    result: delivery.result || null,
    units: billedUnits(delivery),
    price: delivery.price ?? null,
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
