import { formatDestinations, listDestinations } from '../domain/destinations.ts';
import type { Format, InterfaceName, OutgoingRequest } from '../domain/message.ts';
import type { FieldDefinition } from './fields.ts';
import { isObject, type JsonObject, member, parseTypedJson } from './json.ts';
import { isRecipientOnly, type ReceivedMessage, wireFields, wireRecipientOf } from './message.ts';

/** `MessageData` as JSON (interface.md, 2.1–2.8). */

/**
 * @param messageId earlier versions put it elsewhere
 * @throws Error for anything that the interface does not have
 */
export function writeMessageData(
  interfaceName: InterfaceName,
  request: OutgoingRequest,
  messageId?: string,
): string {
  const { keypads, files } = request;
  const leading: Record<string, unknown> = { MessageID: messageId };
  for (const { definition, value } of wireFields(interfaceName, request)) {
    leading[definition.wireName] = toJsonValue(definition, value);
  }
  if (keypads.length > 0) {
    leading['Keypads'] = keypads.map(({ Tone, RouteNumber }) => ({ Tone: Number(Tone), RouteNumber }));
  }
  const trailing = files.length > 0 ? { Files: files.map(({ Name, Data }) => ({ Name, Data })) } : {};
  const members = [
    jsonMembers(leading),
    `"Destinations":${writeDestinationList(interfaceName, request)}`,
    jsonMembers(trailing),
  ];
  return `{${members.filter((text) => text !== '').join()}}`;
}

/** Writes an object without its braces. */
export function jsonMembers(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}

function toJsonValue({ type, asText }: FieldDefinition, value: string): string | number | boolean {
  if (type === 'boolean') return value === 'true';
  return type === 'integer' && !asText ? Number(value) : value;
}

/** Version 2.02 writes destinations as the ledger stores them. */
function writeDestinationList(
  interfaceName: InterfaceName,
  { channel, destinations }: OutgoingRequest,
): string {
  if (interfaceName === 'rest-2.02') return formatDestinations(destinations);
  const entries = listDestinations(destinations).map((destination) => {
    const recipient = wireRecipientOf(interfaceName, channel, destination);
    if (isRecipientOnly(destination)) return recipient;
    const { Attention, Company, Custom1, Custom2 } = destination;
    return { Recipient: recipient, Attention, Company, Custom1, Custom2 };
  });
  return JSON.stringify(entries);
}

export function parseMessageData(data: JsonObject, messageId: unknown): ReceivedMessage {
  return {
    members: data,
    messageId,
    destinations: list(data, 'Destinations'),
    files: list(data, 'Files'),
    keypads: list(data, 'Keypads'),
  };
}

/**
 * The same parts with the numbers of JSON as numbers. XML has texts only.
 *
 * @param body an envelope with `MessageData`, whose MessageID is in it or beside it
 */
export function typedParts(format: Format, body: Uint8Array, parts: ReceivedMessage): ReceivedMessage {
  const envelope = format === 'json' ? parseTypedJson(body) : undefined;
  const data = isObject(envelope) ? member(envelope, 'MessageData') : undefined;
  if (!isObject(envelope) || !isObject(data)) return parts;
  return parseMessageData(data, member(data, 'MessageID') ?? member(envelope, 'MessageID'));
}

function list(data: JsonObject, name: string): readonly unknown[] {
  const value = member(data, name);
  return Array.isArray(value) ? value : [];
}
