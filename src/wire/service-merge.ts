import {
  type Channel,
  type DestinationField,
  destinationFields,
  type InterfaceName,
} from '../domain/message.ts';

type ServiceMerge = {
  readonly field: string;
  readonly destinationFields: readonly DestinationField[];
};

/**
 * For an SMS the service itself merges destination fields into `Message` (interface.md, 2.2 and 2.5). Versions before
 * 2.02 do not document it, so they merge no fields.
 */
export function mergedByService(interfaceName: InterfaceName, channel: Channel): ServiceMerge | undefined {
  if (channel !== 'sms') return undefined;
  const fields = interfaceName === 'rest-2.02' ? destinationFields : [];
  return { field: 'Message', destinationFields: fields.filter((name) => name !== 'Recipient') };
}

/** Whether the service, not Volley, replaces `[[name]]` in this channel (interface.md, 2.5). */
export function isServicePlaceholder(channel: Channel, name: string): boolean {
  if (channel !== 'sms') return false;
  return /^File[1-9]\d*$/.test(name) || /^reply$/i.test(name) || name === 'STOP' || name.startsWith('Link:');
}
