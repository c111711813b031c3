import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { deliveryReportFormats } from '../../src/domain/delivery-reports.ts';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { encodeDeliveryReport } from '../../src/wire/encode-delivery-report.ts';

/** What the service knows about a recipient. */
export type AcceptedRecipient = {
  readonly chargeCode: string;
  readonly outcome: 'delivered' | 'undelivered';
  readonly price: string;
};

export type ReportFigures = { reports: number; reportsTried: number };

/** `copy`: 0 is the first delivery report, 1 repeats it, and 2 is Pending. */
export type RecipientReport = {
  readonly messageId: string;
  readonly address: string;
  readonly recipient: AcceptedRecipient;
  readonly copy: number;
};

/** Sends delivery reports after a delay, and repeats each until a receiver answers 2xx. */
export function createReporter(receivers: readonly string[], figures: ReportFigures) {
  const calling = pLimit(16);
  const reporting = new Set<Promise<void>>();
  const stopping = new AbortController();

  async function deliver(report: RecipientReport): Promise<void> {
    const { messageId, address, copy } = report;
    const wait = seededRandom('wait', messageId, address, copy) * 5_000;
    await sleep(wait, undefined, { signal: stopping.signal });
    const call = encode(report);
    for (let attempts = 0; !stopping.signal.aborted; attempts++) {
      const receiver = receivers[(copy + attempts + address.length) % receivers.length] ?? '';
      figures.reportsTried++;
      if (await calling(() => send(receiver, call))) {
        figures.reports++;
        return;
      }
      await sleep(200);
    }
  }

  return {
    report(report: RecipientReport): void {
      const delivery = deliver(report)
        .catch((error: unknown) => {
          if (!stopping.signal.aborted) throw error;
        })
        .finally(() => reporting.delete(delivery));
      reporting.add(delivery);
    },
    /** Resolves when every delivery report has been answered with 2xx. */
    async done(): Promise<void> {
      while (reporting.size > 0) await Promise.all(reporting);
    },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.allSettled(reporting);
    },
  };
}

function encode({ messageId, address, recipient, copy }: RecipientReport) {
  const common = {
    version: 'v2.02',
    url: 'https://volley.example',
    type: 'SMS',
    messageId,
    destination: address,
    price: recipient.price,
    units: { SMSParts: 1 },
    sentTimeUtc: new Date().toISOString(),
  };
  const final =
    recipient.outcome === 'delivered'
      ? { ...common, status: 'Success', result: 'delivered' }
      : { ...common, status: 'Failed', result: 'Bad Number' };
  const report = copy === 2 ? { ...common, status: 'Pending', result: '' } : final;
  const format =
    deliveryReportFormats[Math.floor(seededRandom('format', messageId, address, copy) * 4)] ?? 'json';
  return encodeDeliveryReport(report, format);
}

/** @returns whether the receiver answered 2xx */
async function send(
  receiver: string,
  { method, headers, body }: ReturnType<typeof encodeDeliveryReport>,
): Promise<boolean> {
  try {
    const response = await fetch(method === 'GET' ? `${receiver}?${body}` : receiver, {
      method,
      headers,
      signal: AbortSignal.timeout(5_000),
      ...(method === 'POST' && { body }),
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
