import type { Format } from '../domain.ts';
import { withCarriable } from './characters.ts';
import type { DeliveryReport } from './delivery-report.ts';
import { buildXml } from './xml.ts';

/** A report as the service writes it: what `DeliveryReport` is read from. */
export type DeliveryReportToWrite = Omit<DeliveryReport, 'outcome'> & {
  /** The interface's, such as `v2.02`. */
  readonly version: string;
  /** The callback URL that is called. */
  readonly url: string;
};

export type EncodedReport = {
  readonly headers: Readonly<Record<string, string>>;
  /** Text, which HTTP sends as UTF-8. */
  readonly body: string;
};

/**
 * Writes a delivery report with the members of observed.md: in JSON as an object, in XML as children of a root whose
 * name was not seen. XML has no null, so what is null in JSON is an empty element there; and it has no way to write some
 * characters that a report may quote, so they are `?`.
 */
export function encodeDeliveryReport(report: DeliveryReportToWrite, format: Format): EncodedReport {
  const members = toMembers(report);
  if (format === 'json') {
    return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(members) };
  }
  const elements = Object.entries(members).map(([name, value]) => [name, withCarriable(value ?? '')]);
  return {
    headers: { 'Content-Type': 'application/xml; charset=utf-8' },
    body: buildXml({ DeliveryReport: Object.fromEntries(elements) }),
  };
}

function toMembers(report: DeliveryReportToWrite): Readonly<Record<string, string | null>> {
  const sent = report.sentTimeUtc;
  const seconds = sent?.slice(0, 19).replace('T', ' ') ?? null;
  const detail = Object.entries(report.units).map(([name, count]) => `${name}:${count}`);
  return {
    Version: report.version,
    Type: report.type,
    Destination: report.destination,
    ContactID: null,
    ReceivedID: null,
    MessageID: report.messageId,
    SubAccount: report.subAccount ?? null,
    Department: report.department ?? null,
    JobNumber: report.jobNumber ?? null,
    SentTimeLocal: seconds,
    SentTimeUTC: seconds,
    SentTimeUTC_RFC3339: sent ?? null,
    Status: report.status,
    Result: report.result,
    Message: null,
    Price: report.price ?? null,
    Detail: detail.join(','),
    URL: report.url,
  };
}
