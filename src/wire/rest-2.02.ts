import type { Channel, Format, OutgoingRequest } from '../domain/message.ts';
import { channelsOf } from './fields.ts';
import { forbiddenValues } from './forbidden-values.ts';
import { isObject, member, parseJson } from './json.ts';
import { parseSendRequest } from './message.ts';
import { parseMessageData, typedParts, writeMessageData } from './message-json.ts';
import { parseMessageElements, toMessageElements } from './message-xml.ts';
import {
  authorizationOf,
  formatOf,
  mediaTypeOf,
  parseRest2Path,
  rest2CredentialsOf,
  rest2Prefix,
} from './rest-2-head.ts';
import { decodeSendAnswer } from './send-answer.ts';
import { createStatusLookUp } from './status-look-up.ts';
import type { DecodedSendRequest, ReceivedRequest, RequestContext, WireInterface } from './wire-interface.ts';
import { buildXml, looksLikeXml, parseXmlRoot } from './xml.ts';

/**
 * REST 2.02 (interface.md, 4.1): one path per channel, the token in a header. The account's address can
 * select 2.03 or 2.04 (`rest-2-head.ts`).
 */

const name = 'rest-2.02';
const channels = channelsOf(name);
const pathPrefix = `${rest2Prefix}/send/`;

export const rest202Json = rest202('json');
export const rest202Xml = rest202('xml');

/** XML requires both headers (4.1), JSON recommends them. */
function rest202(format: Format): WireInterface {
  const toBody = format === 'xml' ? toXml : toJson;
  const mediaType = mediaTypeOf(format);
  return {
    name,
    format,
    channels,
    decodeSendAnswer,
    statusLookUp: createStatusLookUp(format),
    encodeSendRequest: (request, credentials) => {
      if (!channels.includes(request.channel)) {
        throw new Error(`${name} has no channel ${request.channel}; it has ${channels.join(', ')}`);
      }
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
    },
  };
}

function toJson(request: OutgoingRequest): string {
  return `{"MessageData":${writeMessageData(name, request, request.messageId)}}`;
}

const rootElements = {
  email: 'EmailRequest',
  sms: 'SMSRequest',
  fax: 'FaxRequest',
  voice: '',
  tts: '',
} as const;

function toXml(request: OutgoingRequest): string {
  const elements = toMessageElements(name, request);
  const { messageId } = request;
  const MessageData = messageId === undefined ? elements : { MessageID: messageId, ...elements };
  return buildXml({ [rootElements[request.channel]]: { MessageData } });
}

/** The XML root elements of calls are not shown. */
const laterChannels: readonly Channel[] = [...channels, 'voice', 'tts'];

/**
 * The service's side, versions 2.02 to 2.04. Without a usable Content-Type the first character decides the
 * format. The answer has the format of `Accept`, else of the request.
 */
export function decodeRest202(received: ReceivedRequest): DecodedSendRequest {
  const { method, path, headers, body } = received;
  const { version, call } = parseRest2Path(path) ?? {};
  if (method !== 'POST' || version === undefined || call === undefined) return { kind: 'other' };
  const known = version === 'v2.02' ? channels : laterChannels;
  const channel = known.find((candidate) => call.toLowerCase() === `send/${candidate}`);
  if (channel === undefined) return { kind: 'other' };

  const format = formatOf(headers['content-type']) ?? (looksLikeXml(body) ? 'xml' : 'json');
  const root = format === 'xml' ? parseXmlRoot(body) : { name: undefined, content: parseJson(body) };
  const envelope = isObject(root?.content) ? root.content : {};
  const credentials = rest2CredentialsOf(version, headers['authorization'], envelope);
  const understood: RequestContext = {
    interface: name,
    version,
    format,
    answer: { interface: name, format: formatOf(headers['accept']) ?? format, channel },
    ...(credentials && { credentials }),
  };
  const data = member(envelope, 'MessageData');
  if (!isObject(data)) return { kind: 'unreadable', ...understood };
  const partsOf = format === 'xml' ? parseMessageElements : parseMessageData;
  const parts = partsOf(data, member(data, 'MessageID'));
  const request = parseSendRequest(name, channel, parts);
  const forbidden = [
    ...(format === 'xml' ? xmlFaults(received, channel, root?.name) : []),
    ...forbiddenValues(
      { interface: name, channel, version, format },
      parts,
      request,
      typedParts(format, body, parts),
    ),
  ];
  return { kind: 'request', request, forbidden, ...understood };
}

/**
 * Section 4.1: "In XML requests, `Content-Type` and `Accept` are both mandatory", and each channel has its
 * root element.
 */
function xmlFaults(
  { headers }: ReceivedRequest,
  channel: Channel,
  root: string | undefined,
): readonly string[] {
  const expected = rootElements[channel];
  return [
    ...mandatory('Content-Type', headers['content-type']),
    ...mandatory('Accept', headers['accept']),
    ...(expected === '' || root === expected ? [] : [`Invalid root element ${root}. Expected ${expected}`]),
  ];
}

function mandatory(header: string, value: string | readonly string[] | undefined): readonly string[] {
  if (formatOf(value) === 'xml') return [];
  return [`Missing or invalid ${header} header. XML requests need ${mediaTypeOf('xml')}`];
}
