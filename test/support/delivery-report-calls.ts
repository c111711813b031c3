import type { DeliveryReportCall } from '../../src/wire/delivery-report-call.ts';

export function postCall(body: string | Uint8Array, contentType = ''): DeliveryReportCall {
  return { method: 'POST', contentType, body: Buffer.from(body) };
}

export function getCall(query: string): DeliveryReportCall {
  return { method: 'GET', contentType: '', body: Buffer.from(query) };
}
