import type { DeliveryReportFormat } from '../domain/delivery-reports.ts';
import { replaceUnsupportedCharacters } from './characters.ts';
import type { DeliveryReport } from './delivery-report.ts';
import { buildXml } from './xml.ts';

/** A delivery report as the service writes it. */
export type OutgoingDeliveryReport = Omit<DeliveryReport, 'outcome' | 'optedOut'> & {
  /** The interface's version, such as `v2.02`. */
  readonly version: string;
  /** `YYYY-MM-DD HH:mm:ss` in the zone of the message. */
  readonly sentTimeLocal?: string;
  readonly inbound?: { readonly receivedId: string; readonly text: string };
  readonly url: string;
  /** Absent unless the service is configured to send them. */
  readonly credentials?: DeliveryReportCredentials;
};

export type DeliveryReportCredentials = { readonly sender: string; readonly apiKey: string };

export type EncodedDeliveryReport = {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** Text; of a GET, the query string. */
  readonly body: string;
};

/**
 * Writes the members of docs/reference/interfaces.md, "Delivery report calls"; the name of the XML root was not observed. Null exists in JSON only;
 * elsewhere it is empty. Characters that XML cannot carry become `?`; forms turn a lone surrogate into
 * U+FFFD.
 */
export function encodeDeliveryReport(
  report: OutgoingDeliveryReport,
  format: DeliveryReportFormat,
): EncodedDeliveryReport {
  const members = toMembers(report);
  const texts = Object.entries(members).map(([name, value]): [string, string] => [name, value ?? '']);
  switch (format) {
    case 'json':
      return postWith('application/json', JSON.stringify(members));
    case 'xml':
      return postWith('application/xml; charset=utf-8', toXml(texts));
    case 'post':
      return postWith('application/x-www-form-urlencoded', String(new URLSearchParams(texts)));
    case 'get':
      return { method: 'GET', headers: {}, body: String(new URLSearchParams(texts)) };
  }
}

function postWith(contentType: string, body: string): EncodedDeliveryReport {
  return { method: 'POST', headers: { 'Content-Type': contentType }, body };
}

function toXml(texts: readonly (readonly [string, string])[]): string {
  const elements = texts.map(([name, text]) => [name, replaceUnsupportedCharacters(text)]);
  return buildXml({ DeliveryReport: Object.fromEntries(elements) });
}

function toMembers(report: OutgoingDeliveryReport): Readonly<Record<string, string | null>> {
  const sent = report.sentTimeUtc;
  const seconds = sent?.slice(0, 19).replace('T', ' ') ?? null;
  const detail = Object.entries(report.units).map(([name, count]) => `${name}:${count}`);
  return {
    Version: report.version,
    ...(report.credentials && { Sender: report.credentials.sender, APIKey: report.credentials.apiKey }),
    Type: report.type,
    Destination: report.destination,
    ContactID: null,
    ReceivedID: report.inbound?.receivedId ?? null,
    MessageID: report.messageId ?? null,
    SubAccount: report.subAccount ?? null,
    Department: report.department ?? null,
    JobNumber: report.jobNumber ?? null,
    SentTimeLocal: report.sentTimeLocal ?? seconds,
    SentTimeUTC: seconds,
    SentTimeUTC_RFC3339: sent ?? null,
    Status: report.status,
    Result: report.result,
    Message: report.inbound?.text ?? null,
    Price: report.price ?? null,
    Detail: detail.join(','),
    URL: report.url,
  };
}
