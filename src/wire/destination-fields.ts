import { type DestinationField, destinationFields, type InterfaceName } from '../domain/message.ts';

/** interface.md, 2.2 and 2.8. */

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
