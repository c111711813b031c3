import type { Channel, Format, InterfaceName, OutgoingRequest } from '../domain/message.ts';
import { channelsOf } from './fields.ts';
import { forbiddenValues } from './forbidden-values.ts';
import { asText, isObject, type JsonObject, member, parseJson } from './json.ts';
import { parseSendRequest } from './message.ts';
import { jsonMembers, parseMessageData, typedParts, writeMessageData } from './message-json.ts';
import { parseMessageElements, toMessageElements } from './message-xml.ts';
import { decodeRest1SendAnswer } from './send-answer.ts';
import type {
  Credentials,
  DecodedSendRequest,
  ReceivedRequest,
  RequestContext,
  WireInterface,
} from './wire-interface.ts';
import { buildXml, parseXml } from './xml.ts';

/**
 * REST 1.02 and 1.04 (interface.md, 2.8 and 4.2): one path per format, no Authorization header. Sender, key,
 * version, type and MessageID are in the body around `MessageData`.
 */

type Version = '1.02' | '1.04';

/** Section 2.8. Samples differ in case, so the reader ignores it. */
const messageTypes: Readonly<Record<Channel, string>> = {
  email: 'Email',
  sms: 'SMS',
  fax: 'Fax',
  voice: 'Voice',
  tts: 'TextToSpeech',
};

const paths: Readonly<Record<Format, string>> = { json: '/api/json/send/', xml: '/api/xml/send/' };
const contentTypes: Readonly<Record<Format, string>> = {
  json: "application/json; encoding='utf-8'",
  xml: "text/xml; encoding='utf-8'",
};

export const rest104Json = rest1('1.04', 'json');
export const rest104Xml = rest1('1.04', 'xml');
export const rest102Json = rest1('1.02', 'json');
export const rest102Xml = rest1('1.02', 'xml');

function rest1(version: Version, format: Format): WireInterface {
  const name: InterfaceName = `rest-${version}`;
  const toBody = format === 'xml' ? toXml : toJson;
  return {
    name,
    format,
    channels: channelsOf(name),
    decodeSendAnswer: decodeRest1SendAnswer,
    encodeSendRequest: (request, credentials) => ({
      method: 'POST',
      path: paths[format],
      headers: { 'Content-Type': contentTypes[format] },
      body: toBody(name, toEnvelope(version, request, credentials), request),
    }),
  };
}

type Envelope = {
  readonly Sender: string;
  readonly APIKey: string;
  readonly MessageType: string;
  readonly APIVersion: Version;
  readonly MessageID?: string;
};

function toEnvelope(version: Version, request: OutgoingRequest, credentials: Credentials): Envelope {
  if (credentials.kind !== 'apiKey') {
    throw new Error(
      `rest-${version} needs a sender and an API key, not credentials of kind ${credentials.kind}`,
    );
  }
  const { messageId } = request;
  return {
    Sender: credentials.sender,
    APIKey: credentials.apiKey,
    MessageType: messageTypes[request.channel],
    APIVersion: version,
    ...(messageId === undefined ? {} : { MessageID: messageId }),
  };
}

function toJson(name: InterfaceName, envelope: Envelope, request: OutgoingRequest): string {
  return `{${jsonMembers(envelope)},"MessageData":${writeMessageData(name, request)}}`;
}

function toXml(name: InterfaceName, envelope: Envelope, request: OutgoingRequest): string {
  return buildXml({ root: { ...envelope, MessageData: toMessageElements(name, request) } });
}

/** The service's side. An unknown or missing `APIVersion` counts as 1.04. */
export function decodeRest1({ method, path, body }: ReceivedRequest): DecodedSendRequest {
  const format = path === paths.json ? 'json' : path === paths.xml ? 'xml' : undefined;
  if (method !== 'POST' || format === undefined) return { kind: 'other' };

  const read = format === 'xml' ? parseXml(body) : parseJson(body);
  const envelope: JsonObject = isObject(read) ? read : {};
  const text = (key: string): string => asText(member(envelope, key))?.trim() ?? '';
  const name: InterfaceName = text('APIVersion') === '1.02' ? 'rest-1.02' : 'rest-1.04';
  const channel = parseMessageType(text('MessageType'));
  const understood: RequestContext = {
    interface: name,
    version: name === 'rest-1.02' ? 'v1.02' : 'v1.04',
    format,
    answer: { interface: name, format, ...(channel === undefined ? {} : { channel }) },
    credentials: { kind: 'apiKey', sender: text('Sender'), apiKey: text('APIKey') },
  };

  const data = member(envelope, 'MessageData');
  if (channel === undefined || !isObject(data)) return { kind: 'unreadable', ...understood };
  const partsOf = format === 'xml' ? parseMessageElements : parseMessageData;
  const parts = partsOf(data, member(envelope, 'MessageID'));
  const request = parseSendRequest(name, channel, parts);
  const version = text('APIVersion');
  const forbidden = [
    ...(version === '' ? ['Missing APIVersion'] : []),
    ...(['', '1.02', '1.04'].includes(version) ? [] : ['Invalid APIVersion. It must be 1.02 or 1.04']),
    ...forbiddenValues({ interface: name, channel, format }, parts, request, typedParts(format, body, parts)),
  ];
  return { kind: 'request', request, forbidden, ...understood };
}

function parseMessageType(messageType: string): Channel | undefined {
  return channelsOf('rest-1.04').find(
    (channel) => messageTypes[channel].toLowerCase() === messageType.toLowerCase(),
  );
}
