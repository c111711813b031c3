import type { Format } from '../domain/message.ts';
import { withCarriable } from './characters.ts';
import { encodeAnswer } from './encode-send-answer.ts';
import { authTokenOf, formatOf } from './rest-2.02-headers.ts';
import type { EncodedAnswer, ReceivedRequest } from './wire.ts';
import { buildXml, type XmlElements } from './xml.ts';

/**
 * The status look-up (observed.md, "Status look-up"): what the service says of a message and its recipients, a page at a
 * time. interface.md does not show it. Seen on versions 2.03 and 2.04; 2.02 is answered too, as a capability to probe.
 */

/** A page of a message's recipients that somebody asks for. */
export type StatusPage = {
  readonly messageId: string;
  /** From 1 to 1000. */
  readonly recordsPerPage: number;
  /** The first is 1. */
  readonly page: number;
};

/** What somebody asks, as it was received. */
export type StatusRequest = StatusPage & {
  /** Of the answer: that of `Accept`, or else JSON. */
  readonly format: Format;
  /** Absent where there is none. */
  readonly authToken?: string;
};

/** Job states seen. */
export const jobStates = ['Pending', 'Delayed', 'Completed', 'CreditHold', 'Unknown'] as const;
export type JobState = (typeof jobStates)[number];

/** Times are ISO 8601 in UTC, prices decimal text in the account's currency. */
export type MessageStatus = {
  readonly messageId: string;
  readonly state: JobState;
  readonly jobNumber: string;
  readonly account: string;
  readonly subAccount?: string;
  readonly department?: string;
  readonly reference?: string;
  readonly createdTimeUtc: string;
  readonly timeZone?: string;
  /** Recipients of the message: all, those that are done, and how it ended for them. */
  readonly count: number;
  readonly complete: number;
  readonly success: number;
  readonly failed: number;
  readonly price: string;
  readonly recordsPerPage: number;
  readonly page: number;
  /** Those of the page. */
  readonly recipients: readonly RecipientStatus[];
};

/** What a recipient's delivery report says too. */
export type RecipientStatus = {
  /** `SMS`, `Email`, `Voice`, `Fax`. */
  readonly type: string;
  /** Position in the message, from 1. */
  readonly sequence: number;
  readonly destination: string;
  readonly status: string;
  readonly result: string;
  readonly sentTimeUtc?: string;
  readonly price: string;
};

export type StatusAnswer =
  | { readonly kind: 'found'; readonly status: MessageStatus }
  /** Never heard of, forgotten, or not processed yet. */
  | { readonly kind: 'unknown'; readonly messageId: string }
  | { readonly kind: 'unauthorized'; readonly words: readonly string[] };

const pathPattern = /^\/api\/v2\.0[234]\/get\/status\/([^/]+)\/?$/;
const defaultRecordsPerPage = 100;
const mostRecordsPerPage = 1000;

/** The service's side. Never throws; undefined for what is no status look-up. */
export function decodeStatusRequest(received: ReceivedRequest): StatusRequest | undefined {
  const { method, path, query, headers } = received;
  const messageId = pathPattern.exec(path)?.[1];
  if (method !== 'GET' || messageId === undefined) return undefined;
  const parameters = new URLSearchParams(query);
  const token = authTokenOf(headers['authorization']);
  const recordsPerPage = wholeNumber(parameters.get('recordsPerPage')) ?? defaultRecordsPerPage;
  return {
    messageId: decoded(messageId),
    recordsPerPage: Math.min(Math.max(recordsPerPage, 1), mostRecordsPerPage),
    page: Math.max(wholeNumber(parameters.get('page')) ?? 1, 1),
    format: formatOf(headers['accept']) ?? 'json',
    ...(token === undefined ? {} : { authToken: token }),
  };
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** How many pages there are of so many records; none of none. */
export function pageCount({
  count,
  recordsPerPage,
}: Pick<MessageStatus, 'count' | 'recordsPerPage'>): number {
  return Math.ceil(count / recordsPerPage);
}

/** In XML, the children of `root` as an answer to a send has them, with the recipients as in a request. */
export function encodeStatusAnswer(answer: StatusAnswer, format: Format): EncodedAnswer {
  switch (answer.kind) {
    case 'unknown':
      return encodeAnswer(404, { Result: 'RecordNotFound', MessageID: answer.messageId }, format);
    case 'unauthorized':
      return encodeAnswer(401, { Result: 'Unauthorized', ErrorMessage: answer.words }, format);
    case 'found':
      return format === 'json' ? toJson(answer.status) : toXml(answer.status);
  }
}

function toJson(status: MessageStatus): EncodedAnswer {
  const body = { ...toMembers(status), Recipients: status.recipients.map(toRecord) };
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  };
}

function toXml(status: MessageStatus): EncodedAnswer {
  const Recipients = { Recipient: status.recipients.map((recipient) => toElements(toRecord(recipient))) };
  return {
    status: 200,
    headers: { 'Content-Type': 'application/xml; charset=utf-8' },
    body: buildXml({ root: { ...toElements(toMembers(status)), Recipients } }),
  };
}

type Members = Readonly<Record<string, string | number | null>>;

function toElements(members: Members): XmlElements {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, withCarriable(String(value ?? ''))]),
  );
}

function toMembers(status: MessageStatus): Members {
  return {
    Result: 'Success',
    MessageID: status.messageId,
    Status: status.state,
    JobNum: status.jobNumber,
    Account: status.account,
    SubAccount: status.subAccount ?? null,
    Department: status.department ?? null,
    Reference: status.reference ?? null,
    CreatedTimeUTC: toSeconds(status.createdTimeUtc),
    DelayedTimeUTC: null,
    Timezone: status.timeZone ?? null,
    Count: status.count,
    Complete: status.complete,
    Success: status.success,
    Failed: status.failed,
    Price: status.price,
    TotalRecords: status.count,
    RecordsPerPage: status.recordsPerPage,
    PageCount: pageCount(status),
    Page: status.page,
  };
}

function toRecord(recipient: RecipientStatus): Members {
  return {
    Type: recipient.type,
    DestSeq: String(recipient.sequence).padStart(8, '0'),
    Destination: recipient.destination,
    Status: recipient.status,
    Result: recipient.result,
    SentTimeUTC: recipient.sentTimeUtc === undefined ? null : toSeconds(recipient.sentTimeUtc),
    RemoteID: null,
    Price: recipient.price,
  };
}

/** `YYYY-MM-DD HH:mm:ss`. */
function toSeconds(time: string): string {
  return time.slice(0, 19).replace('T', ' ');
}
