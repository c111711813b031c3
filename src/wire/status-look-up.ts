import type { Format } from '../domain/message.ts';
import { asText, isObject, type JsonObject, member } from './json.ts';
import { authorizationOf, mediaTypeOf, rest2Prefix } from './rest-2-head.ts';
import { wordsIn } from './send-answer.ts';
import type { StatusLookUp, StatusLookUpAnswer, StatusLookUpPage } from './wire-interface.ts';
import { parseMembers } from './xml.ts';

/**
 * The caller's side (docs/reference/interfaces.md, "Status look-up"). It asks only whether the service has the message, so it
 * requests the smallest page of recipients.
 */

const pathPrefix = `${rest2Prefix}/get/status/`;

export function createStatusLookUp(format: Format): StatusLookUp {
  return {
    encode: (messageId, credentials, page) => ({
      method: 'GET',
      path: `${pathPrefix}${encodeURIComponent(messageId)}?recordsPerPage=${page ? recordsPerPage : 1}&page=${page ?? 1}`,
      headers: {
        'Content-Type': mediaTypeOf(format),
        Accept: mediaTypeOf(format),
        Authorization: authorizationOf(credentials),
      },
    }),
    decode,
    decodeRecipients,
  };
}

/** The largest observed page size. */
const recordsPerPage = 100;

/** Recipients are a list in JSON, child elements in XML. */
function decodeRecipients(body: Uint8Array): StatusLookUpPage {
  const answer = parseMembers(body) ?? {};
  const listed = member(answer, 'Recipients');
  const entries = [isObject(listed) ? member(listed, 'Recipient') : listed].flat();
  const pages = Number(asText(member(answer, 'PageCount')) ?? 1);
  return {
    recipients: entries.filter(isObject).map(textMembers),
    pages: Number.isSafeInteger(pages) && pages > 0 ? pages : 1,
  };
}

function textMembers(members: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => {
      const text = asText(value);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

/** Reads JSON or XML, whatever the content type. */
function decode(body: Uint8Array): StatusLookUpAnswer {
  if (body.byteLength === 0) return { kind: 'unreadable', why: 'the answer is empty' };
  const answer = parseMembers(body);
  if (answer === undefined) {
    return { kind: 'unreadable', why: 'the answer is neither a JSON object nor XML' };
  }
  const text = (name: string): string | undefined => asText(member(answer, name))?.trim() || undefined;
  const messageId = text('MessageID');
  switch (text('Result')?.toLowerCase()) {
    case 'success': {
      if (messageId === undefined) return { kind: 'unreadable', why: 'the answer has no MessageID' };
      const [state, jobNumber] = [text('Status'), text('JobNum')];
      return { kind: 'found', messageId, ...(state && { state }), ...(jobNumber && { jobNumber }) };
    }
    case 'recordnotfound':
      return { kind: 'not_found', ...(messageId !== undefined && { messageId }) };
    case 'unauthorized':
      return { kind: 'unauthorized', words: wordsIn(answer) };
    default:
      return { kind: 'unreadable', why: 'the answer has no known Result' };
  }
}
