import { channels, type InterfaceName, interfaceNames } from '../domain/message.ts';
import { type FieldDefinition, messageFieldNames, messageFields } from '../wire/fields.ts';

/**
 * The keys of a campaign's `message`. A field is written under its own name, or under the name that the account's REST
 * interface gives it (`ForceGSMChars`, interface.md, 2.8). The names of SOAP's elements are never written by people.
 */

/** The keys that set a field in an interface, the field's own name first. */
export function keysOf(interfaceName: InterfaceName, { name, wireName }: FieldDefinition): readonly string[] {
  return interfaceName === 'soap-tts' || wireName === name ? [name] : [name, wireName];
}

const fieldNameOfKey = new Map<string, string>(messageFieldNames.map((name) => [name, name]));
for (const interfaceName of interfaceNames) {
  for (const definition of channels.flatMap((channel) => messageFields(interfaceName, channel))) {
    for (const key of keysOf(interfaceName, definition)) fieldNameOfKey.set(key, definition.name);
  }
}

/** Every key that sets a field in some interface and channel. */
export const messageKeys: readonly string[] = [...fieldNameOfKey.keys()];

/** The name of the field that a key sets, in whatever interface it does. */
export function fieldNameOf(key: string): string | undefined {
  return fieldNameOfKey.get(key);
}
