import type {
  AttachedFile,
  Channel,
  Destination,
  DestinationField,
  Format,
  InterfaceName,
  Keypad,
  MessageFields,
  OutgoingRequest,
  SendRequest,
} from '../domain/message.ts';
import { canBeMessageId, maxMessageIdLength } from '../domain/message-id.ts';
import { type FieldDefinition, messageFields, serviceSideFields } from './fields.ts';
import { asText, isBlank, isObject, type JsonObject, member } from './json.ts';
import {
  destinationFieldDefinitions,
  keypadTones,
  supportsFiles,
  supportsKeypads,
  unsupportedDestinationFields,
} from './message-parts.ts';
import type { Rest2Version } from './rest-2-head.ts';
import { fromWireRecipient, fromWireText, toWireRecipient, toWireText } from './wire-values.ts';

/** What all formats share: the parts that an interface's messages have. */

type WireField = { readonly definition: FieldDefinition; readonly value: string };

/**
 * In table order.
 *
 * @throws Error for a channel, MessageID, field, value, file or keypad that the interface does not have
 */
export function wireFields(interfaceName: InterfaceName, request: OutgoingRequest): readonly WireField[] {
  const { channel, messageId, fields, files, keypads } = request;
  const definitions = messageFields(interfaceName, channel);
  if (definitions.length === 0) throw new Error(`${interfaceName} has no channel ${channel}`);
  if (messageId !== undefined && !canBeMessageId(messageId)) {
    throw new Error(`MessageID must be 1 to ${maxMessageIdLength} letters and digits, got "${messageId}"`);
  }
  if (files.length > 0 && !supportsFiles(interfaceName, channel)) {
    throw new Error(`${interfaceName} has no Files for ${channel}`);
  }
  if (keypads.length > 0) checkKeypads(interfaceName, channel, keypads);

  const found: WireField[] = [];
  for (const definition of definitions) {
    const value = fields[definition.name];
    if (value === undefined) continue;
    found.push({ definition, value: toWireText(interfaceName, definition, value) });
  }
  const given = Object.keys(fields);
  if (given.length > found.length) {
    const unknown = given.filter((name) => !definitions.some((definition) => definition.name === name));
    if (unknown.length > 0) {
      throw new Error(`${interfaceName} has no field ${unknown.join(', ')} for ${channel}`);
    }
  }
  return found;
}

function checkKeypads(interfaceName: InterfaceName, channel: Channel, keypads: readonly Keypad[]): void {
  if (!supportsKeypads(interfaceName, channel)) {
    throw new Error(`${interfaceName} has no Keypads for ${channel}`);
  }
  for (const { Tone } of keypads) {
    if (!keypadTones.includes(Tone)) throw new Error(`Tone must be a button from 1 to 9, got "${Tone}"`);
  }
}

function checkDestination(interfaceName: InterfaceName, destination: Destination): void {
  for (const name of unsupportedDestinationFields(interfaceName)) {
    if (destination[name] !== undefined) throw new Error(`${interfaceName} has no destination field ${name}`);
  }
}

/** @throws Error for a destination field that the interface does not have */
export function wireRecipientOf(
  interfaceName: InterfaceName,
  channel: Channel,
  destination: Destination,
): string {
  checkDestination(interfaceName, destination);
  const { Recipient } = destination;
  return channel === 'email' ? Recipient : toWireRecipient(interfaceName, Recipient);
}

/** Earlier versions write a destination without other fields as plain text. */
export function isRecipientOnly(destination: Destination): boolean {
  for (const name in destination) if (name !== 'Recipient') return false;
  return true;
}

/** No message fields. Samples put Sender and APIKey here, but no interface reads them here. */
const reservedMembers: readonly string[] = [
  'MessageID',
  'Destinations',
  'Files',
  'Keypads',
  'Sender',
  'APIKey',
  '#text',
];

export type MessageOrigin = {
  readonly interface: InterfaceName;
  readonly channel: Channel;
  readonly version?: Rest2Version;
  readonly format: Format;
};

/** The parts of a message, as lists or texts of any shape. */
export type ReceivedMessage = {
  readonly members: JsonObject;
  readonly messageId: unknown;
  readonly destinations: readonly unknown[];
  readonly files: readonly unknown[];
  readonly keypads: readonly unknown[];
};

/**
 * Reads a message as leniently as the service. Values of other types are dropped. Missing recipients, file
 * names, file data and tones become empty text, which the required-field check names.
 */
export function parseSendRequest(
  interfaceName: InterfaceName,
  channel: Channel,
  { members, messageId, destinations, files, keypads }: ReceivedMessage,
): SendRequest {
  const id = asText(messageId);
  return {
    channel,
    ...(id === undefined || isBlank(id) ? {} : { messageId: id }),
    fields: parseFields(interfaceName, channel, members),
    destinations: destinations.flatMap((entry) => parseDestination(interfaceName, channel, entry)),
    files: files.filter(isObject).map(parseFile),
    keypads: keypads.filter(isObject).map(parseKeypad),
  };
}

function parseFields(interfaceName: InterfaceName, channel: Channel, members: JsonObject): MessageFields {
  const definitions = serviceSideFields(interfaceName, channel);
  const fields: [string, string][] = [];
  for (const [name, value] of Object.entries(members)) {
    const text = asText(value);
    if (text === undefined || reservedMembers.includes(name)) continue;
    const definition = definitions.find(({ wireName }) => wireName === name);
    fields.push(definition ? [definition.name, fromWireText(interfaceName, definition, text)] : [name, text]);
  }
  return Object.fromEntries(fields);
}

const destinationNames: ReadonlyMap<string, DestinationField> = new Map(
  destinationFieldDefinitions.flatMap(({ name, xmlName }) => [
    [name, name],
    [xmlName, name],
  ]),
);

/** Section 2.8 documents plain text for the earlier versions; it is accepted in all. */
function parseDestination(interfaceName: InterfaceName, channel: Channel, entry: unknown): Destination[] {
  const toRecipient = (text: string): string =>
    channel === 'email' ? text : fromWireRecipient(interfaceName, text);
  const recipient = asText(entry);
  if (recipient !== undefined) return [{ Recipient: toRecipient(recipient) }];
  if (!isObject(entry)) return [];
  const fields: [DestinationField, string][] = [];
  for (const [key, value] of Object.entries(entry)) {
    const name = destinationNames.get(key);
    const text = asText(value);
    if (name !== undefined && text !== undefined)
      fields.push([name, name === 'Recipient' ? toRecipient(text) : text]);
  }
  return [{ Recipient: '', ...Object.fromEntries(fields) }];
}

function parseFile(object: JsonObject): AttachedFile {
  return { Name: asText(member(object, 'Name')) ?? '', Data: asText(member(object, 'Data')) ?? '' };
}

/** Button actions without a call. Published clients send `PlayFile` for audio. */
const playMembers: readonly string[] = ['Play', 'PlayFile', 'PlaySection'];

function parseKeypad(object: JsonObject): Keypad {
  const plays = playMembers.some((name) => !isBlank(asText(member(object, name))));
  return {
    Tone: asText(member(object, 'Tone')) ?? '',
    RouteNumber: asText(member(object, 'RouteNumber')) ?? '',
    ...(plays && { plays }),
  };
}
