import type { Destination, MessageFields } from '../../domain/message.ts';

/** @param fields a JSON array: the destination fields other than `Recipient` of each address */
export function destinationsOf(addresses: readonly string[], fields: string): Destination[] {
  const others: readonly MessageFields[] = JSON.parse(fields);
  return addresses.map((address, index) => ({ Recipient: address, ...others[index] }));
}
