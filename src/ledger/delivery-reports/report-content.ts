import type { AccountShare } from '../../domain/account-sharing.ts';
import type { DeliveryOutcome, DeliveryReportMethod } from '../../domain/delivery-reports.ts';
import type { RequestState } from '../../domain/runs.ts';
import { batchOf } from '../batch.ts';
import type { NamedRequest, RequestKey } from '../requests/by-message-id.ts';

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

export type RawCall = Omit<RawReport, 'report'>;

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

export type RecipientKey = RequestKey & { readonly position: number };

export type MatchedRecipient = RecipientKey & {
  readonly state: RequestState;
  /** Whether the report proves that the service accepted the request. */
  readonly isProof: boolean;
  /** Its run is purged: nothing that names the recipient is stored. */
  readonly isPurged: boolean;
};

/** What identifies the recipient of a delivery report. */
export type ReportSubject = Pick<RawReport, 'report' | 'account' | 'receivedAt'> &
  Pick<Delivery, 'messageId' | 'jobNumber' | 'address'>;

/** Requests of any account by the MessageIDs that delivery reports name. */
export type NamedRequests = ReadonlyMap<string, NamedRequest>;

/**
 * SQL: whether a report for one account may concern a message of another: the same, or one with the same webhook.
 *
 * @param accounts SQL parameter (text[]) of accounts that share a webhook; `of` of the webhooks' accounts
 */
export function mayConcern(ofRun: string, ofReport: string, accounts: string, of: string): string {
  return `(${ofRun} = ${ofReport} OR (${ofRun}, ${ofReport}) IN (SELECT * FROM unnest(${accounts}::text[], ${of}::text[])))`;
}

export function sharedColumns(shared: readonly AccountShare[]): [string[], string[]] {
  return [shared.map(({ account }) => account), shared.map(({ source }) => source)];
}

export function recipientKey({ run, request, position }: RecipientKey): string {
  return `${run} ${request} ${position}`;
}

export const recipientKeys = batchOf<RecipientKey>({
  run_id: ['text', ({ run }) => run],
  request: ['integer', ({ request }) => request],
  position: ['integer', ({ position }) => position],
});
