import { listDestinations } from '../domain/destinations.ts';
import type { Channel, Destination, InterfaceName, OutgoingRequest } from '../domain/message.ts';
import { isObject, type JsonObject, member } from './json.ts';
import { isRecipientOnly, type ReceivedMessage, wireFields, wireRecipientOf } from './message.ts';
import { destinationFieldDefinitions } from './message-parts.ts';
import { cdata, toList, type XmlContent, type XmlElements } from './xml.ts';

/**
 * `MessageData` as XML, without the MessageID. Version 2.02 nests `Destination` and `File` in `Destinations`
 * and `Files` (interface.md, 2.2 and 2.3); earlier versions repeat the outer elements (4.2).
 */

/** @throws Error for anything that the interface does not have */
export function toMessageElements(interfaceName: InterfaceName, request: OutgoingRequest): XmlElements {
  const data: Record<string, XmlContent | readonly XmlContent[]> = {};
  for (const { definition, value } of wireFields(interfaceName, request)) {
    data[definition.wireName] = definition.cdata ? cdata(value) : value;
  }
  if (request.keypads.length > 0) {
    data['Keypads'] = request.keypads.map(({ Tone, RouteNumber }) => ({ Tone, RouteNumber }));
  }
  const isNested = interfaceName === 'rest-2.02';
  const destinations = listDestinations(request.destinations).map((destination) =>
    toDestinationElement(interfaceName, request.channel, destination),
  );
  const files = request.files.map(({ Name, Data }) => ({ Name, Data }));
  data['Destinations'] = isNested ? { Destination: destinations } : destinations;
  if (files.length > 0) data['Files'] = isNested ? { File: files } : files;
  return data;
}

function toDestinationElement(
  interfaceName: InterfaceName,
  channel: Channel,
  destination: Destination,
): XmlContent {
  const recipient = wireRecipientOf(interfaceName, channel, destination);
  const elements: Record<string, string> = {};
  for (const { name, xmlName } of destinationFieldDefinitions) {
    const value = destination[name];
    if (value !== undefined) elements[xmlName] = value;
  }
  if (interfaceName === 'rest-2.02') return elements;
  return isRecipientOnly(destination) ? recipient : { ...elements, Recipient: recipient };
}

export function parseMessageElements(data: JsonObject, messageId: unknown): ReceivedMessage {
  return {
    members: data,
    messageId,
    destinations: children(data, 'Destinations', 'Destination'),
    files: children(data, 'Files', 'File'),
    keypads: toList(member(data, 'Keypads')),
  };
}

/** Reads both ways to write a list. */
function children(data: JsonObject, list: string, entry: string): readonly unknown[] {
  return toList(member(data, list)).flatMap((element) => {
    if (!isObject(element)) return typeof element === 'string' && element.trim() === '' ? [] : [element];
    return Object.hasOwn(element, entry) ? toList(member(element, entry)) : [element];
  });
}
