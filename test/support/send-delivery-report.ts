import { encodeDeliveryReport, type OutgoingDeliveryReport } from '../../src/wire/encode-delivery-report.ts';

const common = {
  version: 'v2.02',
  url: 'https://volley.example',
  type: 'SMS',
  units: { SMSParts: 1 },
  price: '0.08',
  status: 'Success',
  result: 'delivered',
} as const;

/** Calls the webhook, as the service does. @throws Error unless it answers 2xx */
export async function sendDeliveryReport(
  webhook: string,
  report: Pick<OutgoingDeliveryReport, 'messageId' | 'destination'> & Partial<OutgoingDeliveryReport>,
): Promise<void> {
  const sentTimeUtc = new Date().toISOString();
  const { method, headers, body } = encodeDeliveryReport({ ...common, sentTimeUtc, ...report }, 'json');
  await callWebhook(webhook, { method, headers, body });
}

/** With any body. @throws Error unless the webhook answers 2xx */
export async function callWebhook(webhook: string, init: RequestInit): Promise<void> {
  const answer = await fetch(webhook, { method: 'POST', ...init });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`the webhook answered ${answer.status}`);
}
