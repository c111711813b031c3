import type { Format } from '../domain/message.ts';
import { replaceUnsupportedCharacters } from './characters.ts';
import { formatOf } from './rest-2-head.ts';
import { encodeSoapAnswer } from './soap-answer.ts';
import type { AnswerStyle, EncodedAnswer, OutgoingAnswer, ReceivedRequest } from './wire-interface.ts';
import { buildXml, type XmlElements } from './xml.ts';

/** Answers of the REST interfaces: the members of a JSON object, or children of an XML `root`. */

/** In wire order. A list has texts, which XML joins, or further records, which it nests. */
export type AnswerMembers = {
  readonly [name: string]: string | number | null | readonly (string | AnswerMembers)[];
};

const entryNames: Readonly<Record<string, string>> = {
  Recipients: 'Recipient',
  Messages: 'Message',
  SMSReplies: 'SMSReply',
};

export function encodeAnswer(status: number, members: AnswerMembers, format: Format): EncodedAnswer {
  return {
    status,
    headers: { 'Content-Type': `application/${format}; charset=utf-8` },
    body: format === 'json' ? JSON.stringify(members) : buildXml({ root: toElements(members) }),
  };
}

function toElements(members: AnswerMembers): XmlElements {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      const list = typeof value === 'object' && value !== null ? value : [String(value ?? '')];
      const records = list.filter((entry) => typeof entry !== 'string');
      return records.length > 0
        ? [name, { [entryNames[name] ?? name]: records.map(toElements) }]
        : [name, replaceUnsupportedCharacters(list.join('; '))];
    }),
  );
}

export type RecordPage = {
  readonly recordsPerPage: number;
  readonly page: number;
};

export function pageMembers(count: number, { recordsPerPage, page }: RecordPage): AnswerMembers {
  const PageCount = Math.ceil(count / recordsPerPage);
  return { TotalRecords: count, RecordsPerPage: recordsPerPage, PageCount, Page: page };
}

export function recordsOnPage<Entry>(
  records: readonly Entry[],
  { recordsPerPage, page }: RecordPage,
): Entry[] {
  return records.slice((page - 1) * recordsPerPage, page * recordsPerPage);
}

/** interface.md, 2.9 and 7. Reasons are a list for an email in JSON, otherwise one text. */
export function encodeSendAnswer(answer: OutgoingAnswer, style: AnswerStyle): EncodedAnswer {
  if (style.interface === 'soap-tts') return encodeSoapAnswer(answer);
  const { format, channel } = style;
  const errorField = style.interface === 'rest-2.02' ? 'ErrorMessage' : 'Message';
  switch (answer.kind) {
    case 'accepted':
      return encodeAnswer(200, { Result: 'Success', MessageID: answer.messageId }, format);
    case 'refused': {
      const isList = format === 'json' && (channel === 'email' || channel === undefined);
      const words = isList ? answer.words : answer.words.join('; ');
      return encodeAnswer(400, failed(answer.messageId, errorField, words), format);
    }
    case 'unauthorized':
      return encodeAnswer(401, { Result: 'Unauthorized', [errorField]: answer.words }, format);
    case 'fault':
      return encodeAnswer(500, failed(answer.messageId, errorField, answer.words), format);
  }
}

/** A refusal of the server itself, such as an unknown path, in the shape of the service's failures. */
export function encodeServerRefusal(received: RequestHead, status: number, words: string): EncodedAnswer {
  const errorField = /^\/api\/(json|xml)\//i.test(received.path) ? 'Message' : 'ErrorMessage';
  return encodeAnswer(status, failed(undefined, errorField, [words]), requestedFormat(received));
}

type RequestHead = Pick<ReceivedRequest, 'path' | 'headers'>;

/** Takes the format from `Accept`, else the content type, else the path, else JSON. */
function requestedFormat({ path, headers }: RequestHead): Format {
  const named = formatOf(headers['accept']) ?? formatOf(headers['content-type']);
  return named ?? (/^\/api\/xml\//i.test(path) ? 'xml' : 'json');
}

function failed(
  messageId: string | undefined,
  errorField: string,
  words: string | readonly string[],
): AnswerMembers {
  return {
    Result: 'Failed',
    ...(messageId === undefined ? {} : { MessageID: messageId }),
    [errorField]: words,
  };
}
