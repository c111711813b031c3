import type { Format } from '../domain/message.ts';
import { type AnswerMembers, encodeAnswer } from './answer-members.ts';
import { formatOf } from './rest-2-head.ts';
import { encodeSoapAnswer } from './soap-answer.ts';
import type { AnswerStyle, EncodedAnswer, OutgoingAnswer, ReceivedRequest } from './wire-interface.ts';

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
