import { parse as parseCsv } from 'csv-parse/sync';
import { stringify as stringifyCsv } from 'csv-stringify/sync';
import { listDestinations } from '../domain/destinations.ts';
import { destinationFields, type Keypad, type OutgoingRequest } from '../domain/message.ts';
import { channelsOf, messageFields } from './fields.ts';
import { forbiddenValues } from './forbidden-values.ts';
import { asText, isObject, type JsonObject, member } from './json.ts';
import {
  isRecipientOnly,
  parseSendRequest,
  type ReceivedMessage,
  wireFields,
  wireRecipientOf,
} from './message.ts';
import { destinationFieldsOf, keypadTones } from './message-parts.ts';
import { decodeSoapAnswer } from './send-answer.ts';
import { soapEnvelope } from './soap-answer.ts';
import type {
  Credentials,
  DecodedSendRequest,
  ReceivedRequest,
  RequestContext,
  WireInterface,
} from './wire-interface.ts';
import { isBase64 } from './wire-values.ts';
import { parseXml } from './xml.ts';

/** Text-to-speech over SOAP (interface.md, 2.10 and 4.3): document/literal, one operation. */

const name = 'soap-tts';
export const soapAction = 'SendTTSService#send_tts';

/** Parts that are no fields, by the field before which they stand. */
const partsBefore: Readonly<Record<string, readonly string[]>> = {
  CallerID: ['sender', 'token'],
  Voice: ['phone_numbers', 'csv_file'],
  Options: keypadTones.flatMap((tone) => [`keypad_${tone}_enabled`, `keypad_${tone}_route_number`]),
};

/** In the order of 2.10. All are text; `csv_file` is base64. */
export const soapParts: readonly string[] = messageFields(name, 'tts').flatMap((field) => [
  ...(partsBefore[field.name] ?? []),
  field.wireName,
]);

/**
 * The account's address is the endpoint itself, so the path is empty.
 *
 * The request has no part for a MessageID, so it travels in the WS-Addressing header block, which other
 * servers ignore. `reference` is the campaign's Reference, else the MessageID, so that an operator finds the
 * request in the service's lists.
 */
export const soapTts: WireInterface = {
  name,
  format: 'xml',
  channels: channelsOf(name),
  decodeSendAnswer: decodeSoapAnswer,
  encodeSendRequest: (request, credentials) => ({
    method: 'POST',
    path: '',
    headers: { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: `"${soapAction}"` },
    body: soapEnvelope(toHeader(request), { 'tns:send_tts': toParts(request, credentials) }),
  }),
};

const addressingNamespace = 'http://www.w3.org/2005/08/addressing';
const messageIdPrefix = 'urn:volley:';

function toHeader({ messageId }: OutgoingRequest): { 'wsa:MessageID': Record<string, string> } | undefined {
  if (messageId === undefined) return undefined;
  return {
    'wsa:MessageID': { '@xmlns:wsa': addressingNamespace, '#text': messageIdPrefix + messageId },
  };
}

function toParts(request: OutgoingRequest, credentials: Credentials): Readonly<Record<string, string>> {
  if (credentials.kind !== 'senderToken') {
    throw new Error(`${name} needs a sender and a token, not credentials of kind ${credentials.kind}`);
  }
  const { messageId, keypads } = request;
  const found: Record<string, string> = { sender: credentials.sender, token: credentials.token };
  if (messageId !== undefined) found['reference'] = messageId;
  for (const { definition, value } of wireFields(name, request)) found[definition.wireName] = value;
  Object.assign(found, toPhoneList(request));
  for (const { Tone, RouteNumber } of keypads) {
    found[`keypad_${Tone}_enabled`] = 'true';
    found[`keypad_${Tone}_route_number`] = RouteNumber;
  }
  return Object.fromEntries(
    soapParts.flatMap((part): [string, string][] => {
      const value = found[part];
      return value === undefined ? [] : [[part, value]];
    }),
  );
}

/**
 * Numbers alone are a list; with other destination fields they become CSV with a header line, where empty and
 * absent are equal. Neither format is shown.
 */
function toPhoneList(request: OutgoingRequest): Readonly<Record<string, string>> {
  const destinations = listDestinations(request.destinations);
  const recipients = destinations.map((destination) => wireRecipientOf(name, 'tts', destination));
  if (destinations.every(isRecipientOnly)) return { phone_numbers: recipients.join(',') };
  const columns = destinationFieldsOf(name).filter((field) =>
    destinations.some((destination) => destination[field] !== undefined),
  );
  const rows = destinations.map((destination, index) => ({ ...destination, Recipient: recipients[index] }));
  const csv = stringifyCsv(rows, { header: true, columns: [...columns], quoted: true });
  return { csv_file: Buffer.from(csv).toString('base64') };
}

/** The service's side: a POST outside the REST paths with a SOAP action or an XML content type. */
export function decodeSoapTts({ method, path, headers, body }: ReceivedRequest): DecodedSendRequest {
  const isSoap = headers['soapaction'] !== undefined || /xml/i.test(String(headers['content-type']));
  if (method !== 'POST' || path.startsWith('/api/') || !isSoap) return { kind: 'other' };

  const envelope = parseXml(body);
  const operation = child(child(envelope, 'Body'), 'send_tts');
  const text = (part: string): string => (isObject(operation) ? (asText(member(operation, part)) ?? '') : '');
  const understood: RequestContext = {
    interface: name,
    // SOAP has no version, so its delivery reports name the latest interface of its generation.
    version: 'v1.04',
    format: 'xml',
    answer: { interface: name, format: 'xml', channel: 'tts' },
    credentials: { kind: 'senderToken', sender: text('sender').trim(), token: text('token').trim() },
  };
  if (!isObject(operation)) return { kind: 'unreadable', ...understood };

  const id = asText(child(child(envelope, 'Header'), 'MessageID'))?.trim();
  const messageId = id?.startsWith(messageIdPrefix) ? id.slice(messageIdPrefix.length) : id;
  const parts: ReceivedMessage = {
    members: messageParts(operation, messageId),
    messageId,
    destinations: [...parsePhoneNumbers(text('phone_numbers')), ...parseCsvDestinations(text('csv_file'))],
    files: [],
    keypads: parseKeypads(text),
  };
  const request = parseSendRequest(name, 'tts', parts);
  const forbidden = [
    ...soapParts.flatMap((part) => {
      const value = member(operation, part);
      return value === undefined || typeof value === 'string' ? [] : [`${part} must be text`];
    }),
    ...(isBase64(text('csv_file')) ? [] : ['csv_file must be base64']),
    ...forbiddenValues({ interface: name, channel: 'tts', format: 'xml' }, parts, request),
  ];
  return { kind: 'request', request, forbidden, ...understood };
}

function child(value: unknown, childName: string): unknown {
  return isObject(value) ? member(value, childName) : undefined;
}

/** Drops a `reference` that only repeats the MessageID. */
function messageParts(operation: JsonObject, messageId: string | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(operation).filter(
      ([part, value]) =>
        !/^(sender|token|phone_numbers|csv_file|keypad_.*)$/.test(part) &&
        !(part === 'reference' && value === messageId),
    ),
  );
}

function parsePhoneNumbers(list: string): readonly string[] {
  return list.split(/[\s,;]+/).filter((entry) => entry !== '');
}

/** Without a header line that contains `Recipient`, the number is in the first column. */
function parseCsvDestinations(base64: string): readonly unknown[] {
  const text = Buffer.from(base64, 'base64').toString('utf8');
  try {
    const rows: string[][] = parseCsv(text, {
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: ['\r\n', '\n'],
    });
    const [header = []] = rows;
    if (!header.includes('Recipient')) return rows.map(([number]) => number);
    return rows.slice(1).map((row) =>
      Object.fromEntries(
        header.flatMap((column, index): [string, string][] => {
          const value = row[index] ?? '';
          const known = destinationFields.some((field) => field === column);
          return known && value !== '' ? [[column, value]] : [];
        }),
      ),
    );
  } catch {
    return [];
  }
}

function parseKeypads(text: (part: string) => string): readonly Keypad[] {
  return keypadTones
    .filter((tone) => /^(true|yes|on|1)$/i.test(text(`keypad_${tone}_enabled`).trim()))
    .map((tone) => ({ Tone: tone, RouteNumber: text(`keypad_${tone}_route_number`) }));
}
