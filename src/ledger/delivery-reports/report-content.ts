import type { DeliveryOutcome, DeliveryReportMethod } from '../../domain/delivery-reports.ts';

/** A call in the inbox, before parsing. */
export type RawReport = {
  /** A bigint, as text. */
  readonly report: string;
  readonly account: string;
  readonly receivedAt: Date;
  readonly method: DeliveryReportMethod;
  readonly contentType: string;
  readonly body: Buffer;
};

export type Delivery = {
  /** Null: the report only has a job number. */
  readonly messageId: string | null;
  readonly jobNumber: string | null;
  readonly address: string;
  readonly outcome: DeliveryOutcome | 'pending';
  /** In the service's words. */
  readonly status: string;
  readonly result: string | null;
  /** ISO 8601 in UTC. */
  readonly sentAt: string | null;
  /** Decimal text. */
  readonly units: string | null;
  /** Decimal text, in the account's currency. */
  readonly price: string | null;
  /** What could not be read, and why. */
  readonly parseProblem: string | null;
  readonly optedOut: boolean;
};

export type Reply = {
  /** Of the message that it answers. */
  readonly messageId: string | null;
  /** Of the message that it answers. */
  readonly jobNumber: string | null;
  /** Of the sender. */
  readonly address: string;
  readonly text: string;
  /** As the service names it; empty: none. */
  readonly subAccount: string;
  /** Whether the text is a stop word. */
  readonly optedOut: boolean;
};

export type ReportContent =
  | ({ readonly kind: 'delivery' } & Delivery)
  | ({ readonly kind: 'inbound' } & Reply)
  | { readonly kind: 'unreadable'; readonly why: string }
  /** A call with several reports: the JSON bodies of calls with one report each. */
  | { readonly kind: 'several'; readonly bodies: readonly Buffer[] };

export type ParsedReport<Kind extends ReportContent['kind'] = Exclude<ReportContent['kind'], 'several'>> =
  RawReport & Extract<ReportContent, { kind: Kind }>;

export type ParsedQueuedReport = ParsedReport & {
  /** Readings that matched no request. */
  readonly attempts: number;
  readonly reread: boolean;
};
