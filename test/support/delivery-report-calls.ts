import type { DeliveryReportCall } from '../../src/wire/delivery-report-call.ts';

/** A POST call with this body. */
export function postCall(body: string | Uint8Array, contentType = ''): DeliveryReportCall {
  return { method: 'POST', contentType, body: Buffer.from(body) };
}

/** A GET call with this query string. */
export function getCall(query: string): DeliveryReportCall {
  return { method: 'GET', contentType: '', body: Buffer.from(query) };
}
