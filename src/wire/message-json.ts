import type { Destination, InterfaceName, SendRequest } from '../domain/message.ts';
import { type JsonObject, member } from './json.ts';
import { isBare, type ReceivedMessage, recipientOf, type WireField, wireFields } from './message.ts';

/** `MessageData` as JSON (interface.md, 2.1–2.8), without the MessageID, which stands elsewhere in earlier versions. */

/** @throws Error for what the interface does not have */
export function toMessageData(interfaceName: InterfaceName, request: SendRequest): JsonObject {
  const data: Record<string, unknown> = {};
  for (const field of wireFields(interfaceName, request))
    data[field.definition.wireName] = toJsonValue(field);
  if (request.keypads.length > 0) {
    data['Keypads'] = request.keypads.map(({ Tone, RouteNumber }) => ({ Tone: Number(Tone), RouteNumber }));
  }
  data['Destinations'] = toDestinations(interfaceName, request);
  if (request.files.length > 0) data['Files'] = request.files.map(({ Name, Data }) => ({ Name, Data }));
  return data;
}

function toJsonValue({ definition: { type, asText }, value }: WireField): string | number | boolean {
  if (type === 'boolean') return value === 'true';
  return type === 'integer' && !asText ? Number(value) : value;
}

type EarlierDestination = { readonly [Field in keyof Destination]?: string | undefined };

/** Version 2.02 writes a destination just as the domain has it, so nothing is copied; that would cost a fifth more. */
function toDestinations(
  interfaceName: InterfaceName,
  { channel, destinations }: SendRequest,
): readonly (EarlierDestination | string)[] {
  if (interfaceName === 'rest-2.02') return destinations;
  return destinations.map((destination) => {
    const recipient = recipientOf(interfaceName, channel, destination);
    if (isBare(destination)) return recipient;
    const { Attention, Company, Custom1, Custom2 } = destination;
    return { Recipient: recipient, Attention, Company, Custom1, Custom2 };
  });
}

/** @param messageId where the interface has it */
export function partsOfMessageData(data: JsonObject, messageId: unknown): ReceivedMessage {
  return {
    members: data,
    messageId,
    destinations: list(data, 'Destinations'),
    files: list(data, 'Files'),
    keypads: list(data, 'Keypads'),
  };
}

function list(data: JsonObject, name: string): readonly unknown[] {
  const value = member(data, name);
  return Array.isArray(value) ? value : [];
}
