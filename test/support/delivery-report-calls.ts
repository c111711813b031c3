import type { DeliveryReportCall } from '../../src/wire/delivery-report-call.ts';

/** A call that posts this body, with any content type. */
export function postCall(body: string | Uint8Array, contentType = ''): DeliveryReportCall {
  return { method: 'POST', contentType, body: Buffer.from(body) };
}

/** A call with this query string. */
export function getCall(query: string): DeliveryReportCall {
  return { method: 'GET', contentType: '', body: Buffer.from(query) };
}
