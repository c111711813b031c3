import {
  type Channel,
  type DestinationField,
  destinationFields,
  type InterfaceName,
} from '../domain/message.ts';

/** The service's merging: into which field, and which destination fields it can put there. */
export type ServiceMerge = {
  readonly field: string;
  readonly destinationFields: readonly DestinationField[];
};

/**
 * What the service merges by itself: destination fields into the text of an SMS (interface.md, 2.2 and 2.5). Earlier
 * versions do not say that they merge, so there nothing is left to the service but its own placeholders.
 */
export function mergedByService(interfaceName: InterfaceName, channel: Channel): ServiceMerge | undefined {
  if (channel !== 'sms') return undefined;
  const fields = interfaceName === 'rest-2.02' ? destinationFields : [];
  return { field: 'Message', destinationFields: fields.filter((name) => name !== 'Recipient') };
}

/** Placeholders that the service fills by itself, SMS only (interface.md, 2.5). `name` is what the brackets hold. */
export function isServicePlaceholder(channel: Channel, name: string): boolean {
  if (channel !== 'sms') return false;
  return /^File[1-9]\d*$/.test(name) || /^reply$/i.test(name) || name === 'STOP' || name.startsWith('Link:');
}
