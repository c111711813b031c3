import type { Destination, MessageFields } from '../../domain/message.ts';

/** @param fields a JSON array: the destination fields other than `Recipient` of each address; null: none has any */
export function destinationsOf(addresses: readonly string[], fields: string | null): Destination[] {
  const others: readonly MessageFields[] = fields === null ? [] : JSON.parse(fields);
  return addresses.map((address, index) => ({ Recipient: address, ...others[index] }));
}
