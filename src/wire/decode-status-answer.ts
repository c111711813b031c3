import { asText, isObject, type JsonObject, member, parseJsonWithNumbersAsText } from './json.ts';
import { decimalText, utcTime } from './report-values.ts';
import { decodeSendAnswer } from './send-answer.ts';
import { type JobState, jobStates, type MessageStatus, type RecipientStatus } from './status.ts';
import { listOf, looksLikeXml, parseXmlRoot } from './xml.ts';

/** The answer to a status look-up, as whoever asked reads it. The HTTP status is judged elsewhere. */
export type DecodedStatusAnswer =
  | { readonly kind: 'found'; readonly status: MessageStatus }
  /** Never heard of, or not processed yet: it proves nothing. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failure'; readonly words: readonly string[] }
  | { readonly kind: 'unreadable'; readonly why: string };

/**
 * JSON or XML, whichever it is. Nothing throws; a state that was never seen is `Unknown`, a recipient without an address
 * is left out, and numbers that are none are counted from the recipients, or 0.
 */
export function decodeStatusAnswer(body: Uint8Array): DecodedStatusAnswer {
  const answer = looksLikeXml(body) ? parseXmlRoot(body) : parseJsonWithNumbersAsText(body);
  if (!isObject(answer)) return { kind: 'unreadable', why: 'the answer is neither a JSON object nor XML' };
  switch (text(answer, 'Result')?.toLowerCase()) {
    case 'recordnotfound':
      return { kind: 'unknown' };
    case 'success':
      return readStatus(answer);
    default: {
      const refusal = decodeSendAnswer(0, undefined, body);
      return refusal.kind === 'failure'
        ? { kind: 'failure', words: refusal.words }
        : { kind: 'unreadable', why: 'the answer has no Result that is known' };
    }
  }
}

function readStatus(answer: JsonObject): DecodedStatusAnswer {
  const messageId = text(answer, 'MessageID');
  const state = text(answer, 'Status')?.toLowerCase();
  if (messageId === undefined) return { kind: 'unreadable', why: 'the answer has no MessageID' };
  if (state === undefined) return { kind: 'unreadable', why: 'the answer has no Status' };
  const recipients = recipientsOf(member(answer, 'Recipients'));
  const subAccount = text(answer, 'SubAccount');
  const department = text(answer, 'Department');
  const reference = text(answer, 'Reference');
  const timeZone = text(answer, 'Timezone');
  const status: MessageStatus = {
    messageId,
    state: jobStates.find((known): known is JobState => known.toLowerCase() === state) ?? 'Unknown',
    jobNumber: text(answer, 'JobNum') ?? '',
    account: text(answer, 'Account') ?? '',
    ...(subAccount === undefined ? {} : { subAccount }),
    ...(department === undefined ? {} : { department }),
    ...(reference === undefined ? {} : { reference }),
    ...(timeZone === undefined ? {} : { timeZone }),
    createdTimeUtc: utcTime(text(answer, 'CreatedTimeUTC')) ?? '',
    count: count(answer, 'TotalRecords') ?? count(answer, 'Count') ?? recipients.length,
    complete: count(answer, 'Complete') ?? 0,
    success: count(answer, 'Success') ?? 0,
    failed: count(answer, 'Failed') ?? 0,
    price: decimalText(text(answer, 'Price')) ?? '0',
    recordsPerPage: count(answer, 'RecordsPerPage') ?? recipients.length,
    page: count(answer, 'Page') ?? 1,
    recipients,
  };
  return { kind: 'found', status };
}

/** A list in JSON; in XML, `Recipient` elements. */
function recipientsOf(value: unknown): readonly RecipientStatus[] {
  const list = isObject(value) ? listOf(member(value, 'Recipient')) : listOf(value);
  return list.filter(isObject).flatMap((record, index): RecipientStatus[] => {
    const destination = text(record, 'Destination');
    const sentTimeUtc = utcTime(text(record, 'SentTimeUTC'));
    if (destination === undefined) return [];
    return [
      {
        type: text(record, 'Type') ?? '',
        sequence: count(record, 'DestSeq') ?? index + 1,
        destination,
        status: text(record, 'Status') ?? '',
        result: text(record, 'Result') ?? '',
        ...(sentTimeUtc === undefined ? {} : { sentTimeUtc }),
        price: decimalText(text(record, 'Price')) ?? '0',
      },
    ];
  });
}

/** A member as text; undefined where it is absent, empty or of another type. Postgres text cannot hold U+0000. */
function text(object: JsonObject, name: string): string | undefined {
  const value = asText(member(object, name))?.replaceAll('\0', '');
  return value === '' ? undefined : value;
}

function count(object: JsonObject, name: string): number | undefined {
  const value = text(object, name);
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}
