import type { Channel, Format, SendRequest } from '../domain/message.ts';
import { channelsOf } from './fields.ts';
import { isObject, member, parseJson } from './json.ts';
import { fromMessageData, toMessageData } from './message-json.ts';
import { fromMessageElements, toMessageElements } from './message-xml.ts';
import { authorizationOf, authTokenOf, formatOf, mediaTypeOf } from './rest-2.02-headers.ts';
import { decodeSendAnswer } from './send-answer.ts';
import { statusLookUpIn } from './status-look-up.ts';
import type {
  DecodedSendRequest,
  EncodedSendRequest,
  ReceivedRequest,
  Understood,
  WireCredentials,
  WireInterface,
} from './wire.ts';
import { buildXml, looksLikeXml, parseXml } from './xml.ts';

/** REST interface v2.02 (interface.md, 4.1): one path a channel, the token in a header, the message in `MessageData`. */

const name = 'rest-2.02';
const channels = channelsOf(name);
const pathPrefix = '/api/v2.02/send/';

/** Version 2.02 in JSON. */
export const rest202Json: WireInterface = {
  name,
  format: 'json',
  channels,
  decodeSendAnswer,
  statusLookUp: statusLookUpIn('json'),
  encodeSendRequest: (request, credentials) => encode(request, credentials, 'json', toJson),
};

/** Version 2.02 in XML. */
export const rest202Xml: WireInterface = {
  name,
  format: 'xml',
  channels,
  decodeSendAnswer,
  statusLookUp: statusLookUpIn('xml'),
  encodeSendRequest: (request, credentials) => encode(request, credentials, 'xml', toXml),
};

/** Both headers are mandatory for XML (4.1), and recommended for JSON. */
function encode(
  request: SendRequest,
  credentials: WireCredentials,
  format: Format,
  toBody: (request: SendRequest) => string,
): EncodedSendRequest {
  if (!channels.includes(request.channel)) {
    throw new Error(`${name} has no channel ${request.channel}; it has ${channels.join(', ')}`);
  }
  const mediaType = mediaTypeOf(format);
  return {
    method: 'POST',
    path: pathPrefix + request.channel,
    headers: {
      'Content-Type': mediaType,
      Accept: mediaType,
      Authorization: authorizationOf(credentials),
    },
    body: toBody(request),
  };
}

function toJson(request: SendRequest): string {
  // A MessageID that is undefined is not written.
  const MessageData = { MessageID: request.messageId, ...toMessageData(name, request) };
  return JSON.stringify({ MessageData });
}

const rootElements = {
  email: 'EmailRequest',
  sms: 'SMSRequest',
  fax: 'FaxRequest',
  voice: '',
  tts: '',
} as const;

function toXml(request: SendRequest): string {
  const elements = toMessageElements(name, request);
  const { messageId } = request;
  const MessageData = messageId === undefined ? elements : { MessageID: messageId, ...elements };
  return buildXml({ [rootElements[request.channel]]: { MessageData } });
}

/**
 * The service's side. The body's own beginning says which format it is in where Content-Type does not; the answer is in
 * the format of `Accept`, or else in that of the request.
 */
export function decodeRest202(received: ReceivedRequest): DecodedSendRequest {
  const { method, path, headers, body } = received;
  const channel = channels.find((candidate) => path === pathPrefix + candidate);
  if (method !== 'POST' || channel === undefined) return { kind: 'other' };

  const format = formatOf(headers['content-type']) ?? (looksLikeXml(body) ? 'xml' : 'json');
  const token = authTokenOf(headers['authorization']);
  const understood: Understood = {
    interface: name,
    format,
    answer: { interface: name, format: formatOf(headers['accept']) ?? format, channel },
    ...(token === undefined ? {} : { credentials: { kind: 'authToken', authToken: token } }),
  };
  const request = format === 'xml' ? fromXml(channel, body) : fromJson(channel, body);
  return request ? { kind: 'request', request, ...understood } : { kind: 'unreadable', ...understood };
}

function fromJson(channel: Channel, body: Uint8Array): SendRequest | undefined {
  const envelope = parseJson(body);
  const data = isObject(envelope) ? member(envelope, 'MessageData') : undefined;
  return isObject(data) ? fromMessageData(name, channel, data, member(data, 'MessageID')) : undefined;
}

function fromXml(channel: Channel, body: Uint8Array): SendRequest | undefined {
  const root = parseXml(body);
  const data = isObject(root) ? member(root, 'MessageData') : undefined;
  return isObject(data) ? fromMessageElements(name, channel, data, member(data, 'MessageID')) : undefined;
}
