import {
  type Channel,
  type DestinationField,
  destinationFields,
  type InterfaceName,
} from '../domain/message.ts';

/** The field into which the service merges, and what it merges. */
export type ServiceMerge = {
  readonly field: string;
  readonly destinationFields: readonly DestinationField[];
};

/**
 * Destination fields into the text of an SMS (interface.md, 2.2 and 2.5). Earlier versions do not document
 * it.
 */
export function mergedByService(interfaceName: InterfaceName, channel: Channel): ServiceMerge | undefined {
  if (channel !== 'sms') return undefined;
  const fields = interfaceName === 'rest-2.02' ? destinationFields : [];
  return { field: 'Message', destinationFields: fields.filter((name) => name !== 'Recipient') };
}

/** SMS only (interface.md, 2.5). @param name the text in the brackets */
export function isServicePlaceholder(channel: Channel, name: string): boolean {
  if (channel !== 'sms') return false;
  return /^File[1-9]\d*$/.test(name) || /^reply$/i.test(name) || name === 'STOP' || name.startsWith('Link:');
}
