import type { DeliveryReport } from './delivery-report.ts';

/** A report as the service writes it: what `DeliveryReport` is read from. */
export type DeliveryReportToWrite = Omit<DeliveryReport, 'outcome' | 'fields'> & {
  /** The callback URL that is called. */
  readonly url: string;
};

export type EncodedReport = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

/** Writes a delivery report as JSON with the members of observed.md. */
export function encodeDeliveryReport(report: DeliveryReportToWrite): EncodedReport {
  const sent = report.sentTimeUtc;
  const seconds = sent?.slice(0, 19).replace('T', ' ') ?? null;
  const detail = Object.entries(report.units).map(([name, count]) => `${name}:${count}`);
  const members = {
    Version: 'v2.02',
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
  return { headers: { 'Content-Type': 'application/json' }, body: Buffer.from(JSON.stringify(members)) };
}
