import { channels, type InterfaceName, interfaceNames } from '../domain/message.ts';
import { type FieldDefinition, messageFieldNames, messageFields } from '../wire/fields.ts';

/**
 * The keys of a campaign's `message`: a field's own name, or its name in the account's REST interface
 * (`ForceGSMChars`; interface.md, 2.8). SOAP element names are not keys.
 */

/** Its own name first. */
export function keysOf(interfaceName: InterfaceName, { name, wireName }: FieldDefinition): readonly string[] {
  return interfaceName === 'soap-tts' || wireName === name ? [name] : [name, wireName];
}

const fieldNameOfKey = new Map<string, string>(messageFieldNames.map((name) => [name, name]));
for (const interfaceName of interfaceNames) {
  for (const definition of channels.flatMap((channel) => messageFields(interfaceName, channel))) {
    for (const key of keysOf(interfaceName, definition)) fieldNameOfKey.set(key, definition.name);
  }
}

export const messageKeys: readonly string[] = [...fieldNameOfKey.keys()];

export function fieldNameOf(key: string): string | undefined {
  return fieldNameOfKey.get(key);
}
