import { type FieldType, serviceSideFields } from './fields.ts';
import { isObject, member } from './json.ts';
import type { MessageOrigin, ReceivedMessage } from './message.ts';
import { destinationFieldDefinitions } from './message-parts.ts';

/**
 * Values of another type than interface.md gives them (2.1–2.8). The parser drops such a value, or reads a number as a
 * text, so a client would not notice.
 *
 * @param parts with the numbers of JSON as numbers
 * @returns the faults, in the sandbox's own words
 */
export function wrongTypes(origin: MessageOrigin, parts: ReceivedMessage): readonly string[] {
  const { members, messageId, destinations, files, keypads } = parts;
  return [
    ...typeFault('MessageID', 'text', messageId),
    ...serviceSideFields(origin.interface, origin.channel).flatMap(({ wireName, type }) =>
      typeFault(wireName, type, member(members, wireName)),
    ),
    ...destinations.flatMap((entry, index) => destinationFaults(origin, entry, index + 1)),
    ...files.flatMap((entry, index) => fileFaults(entry, index + 1)),
    ...keypads.flatMap((entry, index) => (isObject(entry) ? [] : [`Invalid keypad ${index + 1}`])),
  ];
}

/** A client may send null for what it does not have. */
function isText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

/** Samples write booleans and whole numbers as texts too. */
function typeFault(name: string, type: FieldType, value: unknown): readonly string[] {
  if (isText(value)) return [];
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? [] : [`${name} must be true or false`];
    case 'integer':
      return typeof value === 'number' ? [] : [`${name} must be a whole number`];
    default:
      return [`${name} must be text`];
  }
}

/** Earlier versions have plain texts too (2.8). Version 2.02 documents objects only; later versions are not shown. */
function destinationFaults(
  { interface: name, version }: MessageOrigin,
  entry: unknown,
  place: number,
): readonly string[] {
  if (typeof entry === 'string' && !(name === 'rest-2.02' && version === 'v2.02')) return [];
  if (!isObject(entry)) return [`Invalid destination ${place}. It must hold a Recipient`];
  return destinationFieldDefinitions
    .flatMap(({ name: key, xmlName }) => [...new Set([key, xmlName])])
    .filter((key) => !isText(member(entry, key)))
    .map((key) => `${key} of destination ${place} must be text`);
}

/** Those of a fax are required, and lenient sandboxes refuse them too. */
function fileFaults(entry: unknown, place: number): readonly string[] {
  if (!isObject(entry)) return [`Invalid file ${place}. It must hold Name and Data`];
  return (['Name', 'Data'] as const).flatMap((key) => {
    const value = member(entry, key);
    if (!isText(value)) return [`${key} of file ${place} must be text`];
    const isMissing = typeof value !== 'string' || value.trim() === '';
    return isMissing ? [`Missing file ${key.toLowerCase()} on file ${place}`] : [];
  });
}
