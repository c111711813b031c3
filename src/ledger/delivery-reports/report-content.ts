import type { DeliveryOutcome, DeliveryReportMethod } from '../../domain/delivery-reports.ts';

/** A call in the inbox that is to be read. */
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
  /** Null where the report only has the service's own number. */
  readonly messageId: string | null;
  /** The service's own number for the message. */
  readonly jobNumber: string | null;
  readonly address: string;
  readonly outcome: DeliveryOutcome | 'pending';
  /** The service's words. */
  readonly status: string;
  readonly result: string | null;
  /** ISO 8601 in UTC. */
  readonly sentAt: string | null;
  /** Decimal text. */
  readonly units: string | null;
  /** Decimal text, in the account's currency. */
  readonly price: string | null;
  /** What stands in it and could not be read, in words. */
  readonly parseProblem: string | null;
  /** Whether it says that the recipient has opted out. */
  readonly optedOut: boolean;
};

export type Reply = {
  /** Of the message that is answered. */
  readonly messageId: string | null;
  /** Of the same message: the service's own number. */
  readonly jobNumber: string | null;
  /** Whom it is from. */
  readonly address: string;
  readonly text: string;
  /** As the service says it; empty where it says none. */
  readonly subAccount: string;
  /** Whether the text is a word by which one opts out. */
  readonly optedOut: boolean;
};

/** What a call in the inbox was found to say. */
export type ReportContent =
  | ({ readonly kind: 'delivery' } & Delivery)
  | ({ readonly kind: 'inbound' } & Reply)
  | { readonly kind: 'unreadable'; readonly why: string };

export type ParsedReport<Kind extends ReportContent['kind'] = ReportContent['kind']> = RawReport &
  Extract<ReportContent, { kind: Kind }>;

/** A reading of a report that was taken from the queue. */
export type ParsedQueuedReport = ParsedReport & {
  /** How often it was read before and matched nothing. */
  readonly attempts: number;
  /** Whether it may have been read before. */
  readonly reread: boolean;
};
