import type { Format } from '../domain/message.ts';
import type { RecordPage } from './answer-members.ts';
import { asText, isObject, type JsonObject, member, parseJson } from './json.ts';
import { formatOf, parseRest2Path, type Rest2Version, rest2CredentialsOf } from './rest-2-head.ts';
import type { Credentials, ReceivedRequest } from './wire-interface.ts';

/**
 * Calls about earlier messages, the service's side (docs/reference/interfaces.md, "Status look-up").
 * Version 2.02 has only the status. In an older call style, parameters and credentials are in the body of a
 * `POST`.
 */

const messageActions = ['abort', 'reschedule', 'resubmit', 'pacing'] as const;
export type MessageAction = (typeof messageActions)[number];

export type FollowUpQuestion =
  /** `reply` includes the recipients' replies. */
  | ({ readonly kind: 'status' | 'reply'; readonly messageId: string } & RecordPage)
  | ({ readonly kind: 'received'; readonly period: ReceivedPeriod } & RecordPage)
  | {
      readonly kind: 'action';
      readonly action: MessageAction;
      readonly messageId: string;
      readonly sendTime: string;
      readonly numberOfOperators: string;
    };

/** Minutes back, or two times in the sender's zone (`YYYY-MM-DDTHH:mm`, or with a blank and seconds). */
export type ReceivedPeriod = {
  readonly timePeriod: string;
  readonly dateFrom: string;
  readonly dateTo: string;
};

export type FollowUpCall = {
  readonly question: FollowUpQuestion;
  /** The format of the answer, from `Accept`; JSON by default. */
  readonly format: Format;
  readonly credentials?: Credentials;
};

const defaultRecordsPerPage = 100;
const maxRecordsPerPage = 1000;

/** Never throws. Returns undefined for any other call. */
export function decodeFollowUpCall({
  method,
  path,
  query,
  headers,
  body,
}: ReceivedRequest): FollowUpCall | undefined {
  const { version, call } = parseRest2Path(path) ?? {};
  // Bodies of sends are large, so they are not parsed here.
  if (version === undefined || call === undefined || !/^[gs]et\//i.test(call)) return undefined;
  const read = parseJson(body);
  const envelope: JsonObject = isObject(read) ? read : {};
  const parameters = new URLSearchParams(query);
  const text = (name: string): string => {
    // Queries write names with a small initial, bodies with a capital.
    const small = name.charAt(0).toLowerCase() + name.slice(1);
    const written = [name, small].map((key) => asText(member(envelope, key)) ?? parameters.get(key) ?? '');
    return written.find((each) => each.trim() !== '')?.trim() ?? '';
  };
  const question = parseQuestion(version, method, call, text);
  if (question === undefined) return undefined;
  const credentials = rest2CredentialsOf(version, headers['authorization'], envelope);
  return { question, format: formatOf(headers['accept']) ?? 'json', ...(credentials && { credentials }) };
}

type Call = Pick<ReceivedRequest, 'method'> & {
  /** From the path; empty in the older call style. */
  readonly id: string;
};

function parseQuestion(
  version: Rest2Version,
  method: string,
  call: string,
  text: (name: string) => string,
): FollowUpQuestion | undefined {
  const isLater = version !== 'v2.02';
  const [, name = '', id = ''] = /^((?:get|set)\/(?:sms\/)?[a-z]+)(?:\/([^/]+))?$/i.exec(call) ?? [];
  const callName = name.toLowerCase();
  const messageId = id === '' ? text('MessageID') : decodeSegment(id);
  if (callName === 'get/status' && usesMethodOfCall({ method, id }, 'GET', isLater)) {
    return { kind: 'status', messageId, ...parsePage(text) };
  }
  if (!isLater) return undefined;
  if (callName === 'get/sms/reply' && usesMethodOfCall({ method, id }, 'GET', true)) {
    return { kind: 'reply', messageId, ...parsePage(text) };
  }
  if (callName === 'get/sms/received' && id === '' && (method === 'GET' || method === 'POST')) {
    const period = { timePeriod: text('TimePeriod'), dateFrom: text('DateFrom'), dateTo: text('DateTo') };
    return { kind: 'received', period, ...parsePage(text) };
  }
  const action = messageActions.find((known) => callName === `set/${known}`);
  if (action === undefined || !usesMethodOfCall({ method, id }, 'PATCH', true)) return undefined;
  return {
    kind: 'action',
    action,
    messageId,
    sendTime: text('SendTime'),
    numberOfOperators: text('NumberOfOperators'),
  };
}

/** The method fits: with the MessageID in the path, or a POST of the older style. */
function usesMethodOfCall({ method, id }: Call, by: 'GET' | 'PATCH', hasOlderStyle: boolean): boolean {
  return id === '' ? hasOlderStyle && method === 'POST' : method === by;
}

function parsePage(text: (name: string) => string): RecordPage {
  const recordsPerPage = wholeNumber(text('RecordsPerPage')) ?? defaultRecordsPerPage;
  return {
    recordsPerPage: Math.min(Math.max(recordsPerPage, 1), maxRecordsPerPage),
    page: Math.max(wholeNumber(text('Page')) ?? 1, 1),
  };
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
