import type {
  AttachedFile,
  Channel,
  Destination,
  InterfaceName,
  MessageFields,
  SendRequest,
} from '../domain.ts';
import { destinationFieldDefinitions, type FieldDefinition, messageFields } from './fields.ts';
import { asText, isBlank, isObject, type JsonObject, member } from './json.ts';

/** `MessageData` as JSON (interface.md, 2.1–2.6): a message to members and back, driven by the field tables. */

/** Members that are not message fields. Sender and APIKey are credentials: samples put them here, nobody reads them. */
const reserved: readonly string[] = ['MessageID', 'Destinations', 'Files', 'Sender', 'APIKey'];

/**
 * Members in the order of the tables, whatever the order of `fields`.
 *
 * @throws Error for a field or value the interface does not have.
 */
export function toMessageData(interfaceName: InterfaceName, request: SendRequest): JsonObject {
  const definitions = messageFields(interfaceName, request.channel);
  const known = new Set(definitions.map(({ name }) => name));
  const unknown = Object.keys(request.fields).filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new Error(`${interfaceName} has no field ${unknown.join(', ')} for ${request.channel}`);
  }
  const data: Record<string, unknown> = {};
  if (request.messageId !== undefined) data['MessageID'] = request.messageId;
  for (const definition of definitions) {
    const value = request.fields[definition.name];
    if (value !== undefined) data[definition.name] = toJsonValue(definition, value);
  }
  data['Destinations'] = request.destinations.map(toDestinationObject);
  if (request.files.length > 0) data['Files'] = request.files.map(({ Name, Data }) => ({ Name, Data }));
  return data;
}

function toJsonValue({ name, type }: FieldDefinition, value: string): string | number | boolean {
  if (type === 'text') return value;
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  if (type === 'integer' && /^\d{1,9}$/.test(value)) return Number(value);
  throw new Error(
    `${name} must be ${type === 'boolean' ? 'true or false' : 'a whole number'}, got "${value}"`,
  );
}

function toDestinationObject(destination: Destination): JsonObject {
  const object: Record<string, string> = {};
  for (const { name } of destinationFieldDefinitions) {
    const value = destination[name];
    if (value !== undefined) object[name] = value;
  }
  return object;
}

/**
 * Reads a message as leniently as the service does: it checks that fields are there, not what is in them. What is not
 * a text, number or boolean is left out; a destination without a recipient and a file without a name or data are kept
 * with empty text, so that the required-field checks can name them.
 */
export function fromMessageData(channel: Channel, data: JsonObject): SendRequest {
  const messageId = asText(member(data, 'MessageID'));
  return {
    channel,
    ...(messageId === undefined || isBlank(messageId) ? {} : { messageId }),
    fields: fieldsOf(data),
    destinations: listOf(data, 'Destinations').map(toDestination),
    files: listOf(data, 'Files').map(toFile),
  };
}

function fieldsOf(data: JsonObject): MessageFields {
  const fields: [string, string][] = [];
  for (const [name, value] of Object.entries(data)) {
    const text = asText(value);
    if (text !== undefined && !reserved.includes(name)) fields.push([name, text]);
  }
  return Object.fromEntries(fields);
}

function listOf(data: JsonObject, name: string): readonly JsonObject[] {
  const list = member(data, name);
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function toDestination(object: JsonObject): Destination {
  const fields: [string, string][] = [];
  for (const { name } of destinationFieldDefinitions) {
    const text = asText(member(object, name));
    if (text !== undefined) fields.push([name, text]);
  }
  return { Recipient: '', ...Object.fromEntries(fields) };
}

function toFile(object: JsonObject): AttachedFile {
  return { Name: asText(member(object, 'Name')) ?? '', Data: asText(member(object, 'Data')) ?? '' };
}
