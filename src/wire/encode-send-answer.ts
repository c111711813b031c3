import type { Format } from '../domain/message.ts';
import { withCarriable } from './characters.ts';
import { encodeSoapAnswer } from './soap-answer.ts';
import type { AnswerStyle, EncodedAnswer, SendAnswerToWrite } from './wire.ts';
import { buildXml } from './xml.ts';

/** The answer to a send request as the service writes it (interface.md, 2.9 and 7). */
export function encodeSendAnswer(answer: SendAnswerToWrite, style: AnswerStyle): EncodedAnswer {
  if (style.interface === 'soap-tts') return encodeSoapAnswer(answer);
  const { format } = style;
  const errorField = style.interface === 'rest-2.02' ? 'ErrorMessage' : 'Message';
  switch (answer.kind) {
    case 'accepted':
      return encodeAnswer(200, { Result: 'Success', MessageID: answer.messageId }, format);
    case 'refused':
      return encodeAnswer(400, refusal(answer, style, errorField), format);
    case 'unauthorized':
      return encodeAnswer(401, { Result: 'Unauthorized', [errorField]: answer.words }, format);
    case 'fault':
      return encodeAnswer(500, { Result: 'Failed', [errorField]: answer.words }, format);
  }
}

type Members = { readonly [name: string]: string | readonly string[] };

/** JSON in the shapes of the samples. Email: a list and no MessageID. Others: one text, with the MessageID if known. */
function refusal(
  { words, messageId }: { readonly words: readonly string[]; readonly messageId?: string },
  { format, channel }: AnswerStyle,
  errorField: string,
): Members {
  if (format === 'json' && (channel === 'email' || channel === undefined)) {
    return { Result: 'Failed', [errorField]: words };
  }
  return {
    Result: 'Failed',
    ...(messageId === undefined ? {} : { MessageID: messageId }),
    [errorField]: words.join('; '),
  };
}

/** Members as an object in JSON, or as children of `root` in XML. */
export function encodeAnswer(status: number, members: Members, format: Format): EncodedAnswer {
  if (format === 'json') {
    const headers = { 'Content-Type': 'application/json; charset=utf-8' };
    return { status, headers, body: JSON.stringify(members) };
  }
  const elements = Object.entries(members).map(([name, value]): [string, string] => [
    name,
    withCarriable(typeof value === 'string' ? value : value.join('; ')),
  ]);
  return {
    status,
    headers: { 'Content-Type': 'application/xml; charset=utf-8' },
    body: buildXml({ root: Object.fromEntries(elements) }),
  };
}
