import type { Channel } from '../domain.ts';
import { asText, isObject, type JsonObject, member, parseJson } from './json.ts';
import type { EncodedSendAnswer, SendAnswer, SendAnswerToWrite } from './wire.ts';
import { looksLikeXml, parseXmlRoot } from './xml.ts';

/** The answer to a send request (interface.md, 2.9 and 7): read in both formats, written in JSON. */

const mostWords = 20;
const longestWords = 500;

/**
 * Reads an answer of any REST interface, in JSON or in XML, whichever it is: `ErrorMessage` (or, in earlier versions,
 * `Message`) as text, list or elements, with or without a MessageID. A page of a proxy, an empty body or a `Result` of
 * another word is `unreadable`.
 */
export function decodeSendAnswer(
  _status: number,
  _contentType: string | undefined,
  body: Uint8Array,
): SendAnswer {
  if (body.byteLength === 0) return { kind: 'unreadable', why: 'the answer is empty' };
  const answer = looksLikeXml(body) ? parseXmlRoot(body) : parseJson(body);
  if (!isObject(answer)) return { kind: 'unreadable', why: 'the answer is neither a JSON object nor XML' };

  const id = asText(member(answer, 'MessageID'));
  const messageId = id === undefined ? {} : { messageId: id };
  const result = member(answer, 'Result');
  switch (typeof result === 'string' ? result.trim().toLowerCase() : undefined) {
    case 'success':
      return { kind: 'success', ...messageId };
    case 'failed':
    case 'unauthorized':
      return { kind: 'failure', words: wordsOf(answer), ...messageId };
    default:
      return { kind: 'unreadable', why: 'the answer has no Result that is known' };
  }
}

function wordsOf(answer: JsonObject): readonly string[] {
  const message = member(answer, 'ErrorMessage') ?? member(answer, 'Message');
  const list: readonly unknown[] = Array.isArray(message) ? message : [message];
  return list
    .map(asText)
    .filter((text): text is string => text !== undefined && text !== '')
    .slice(0, mostWords)
    .map((text) => text.slice(0, longestWords));
}

/** Writes an answer in the shapes of the samples: see `refusal`. */
export function encodeSendAnswerJson(
  answer: SendAnswerToWrite,
  channel: Channel | undefined,
): EncodedSendAnswer {
  switch (answer.kind) {
    case 'accepted':
      return encoded(200, { Result: 'Success', MessageID: answer.messageId });
    case 'refused':
      return encoded(400, refusal(answer, channel));
    case 'unauthorized':
      return encoded(401, { Result: 'Unauthorized', ErrorMessage: answer.words });
    case 'fault':
      return encoded(500, { Result: 'Failed', ErrorMessage: answer.words });
  }
}

/** Email: a list and no MessageID. SMS and fax: one text, with the MessageID if there was one (interface.md, 2.9). */
function refusal(
  answer: { words: readonly string[]; messageId?: string },
  channel: Channel | undefined,
): JsonObject {
  if (channel === 'email' || channel === undefined) return { Result: 'Failed', ErrorMessage: answer.words };
  return {
    Result: 'Failed',
    ...(answer.messageId === undefined ? {} : { MessageID: answer.messageId }),
    ErrorMessage: answer.words.join('; '),
  };
}

function encoded(status: number, members: JsonObject): EncodedSendAnswer {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: Buffer.from(JSON.stringify(members)),
  };
}
