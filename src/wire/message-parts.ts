import {
  type Channel,
  type DestinationField,
  destinationFields,
  type InterfaceName,
} from '../domain/message.ts';
import { callChannels, messageFields, writtenChannels } from './fields.ts';

/** The parts of a message beside its fields: destinations (interface.md, 2.2 and 2.8), files and keypads. */

/** A JSON key may contain a space, an XML element name may not. */
type DestinationFieldDefinition = { readonly name: DestinationField; readonly xmlName: string };

export const destinationFieldDefinitions: readonly DestinationFieldDefinition[] = destinationFields.map(
  (name) => ({
    name,
    xmlName: name.replace(' ', ''),
  }),
);

/** Sections 2.8 and 4.2: "`First Name` and `Last Name` are not listed". Assumed for SOAP too. */
const laterDestinationFields: readonly DestinationField[] = ['First Name', 'Last Name'];
const earlierDestinationFields = destinationFields.filter((name) => !laterDestinationFields.includes(name));

export function destinationFieldsOf(interfaceName: InterfaceName): readonly DestinationField[] {
  return interfaceName === 'rest-2.02' ? destinationFields : earlierDestinationFields;
}

export function unsupportedDestinationFields(interfaceName: InterfaceName): readonly DestinationField[] {
  return interfaceName === 'rest-2.02' ? [] : laterDestinationFields;
}

/** interface.md, 2.3. */
export function supportsFiles(interfaceName: InterfaceName, channel: Channel): boolean {
  return writtenChannels.includes(channel) && messageFields(interfaceName, channel).length > 0;
}

/** interface.md, 2.7 and 2.10. */
export function supportsKeypads(interfaceName: InterfaceName, channel: Channel): boolean {
  return callChannels.includes(channel) && messageFields(interfaceName, channel).length > 0;
}

/** interface.md, 2.7 and 8. */
export const keypadTones: readonly string[] = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
