import { listDestinations } from '../../src/domain/destinations.ts';
import type { Destination, Destinations, OutgoingRequest, SendRequest } from '../../src/domain/message.ts';

/** As the ledger would return them. */
export function toStoredDestinations(destinations: readonly Destination[]): Destinations {
  const others = destinations.map(({ Recipient: _, ...fields }) => JSON.stringify(fields));
  return {
    count: destinations.length,
    addresses: `[${destinations.map(({ Recipient }) => JSON.stringify(Recipient)).join(',\n ')}]`,
    fields: others.every((fields) => fields === '{}') ? null : `[${others.join(',\n')}]`,
  };
}

export function outgoing(request: SendRequest): OutgoingRequest {
  return { ...request, destinations: toStoredDestinations(request.destinations) };
}

export function addressesOf(destinations: Destinations): string[] {
  return listDestinations(destinations).map(({ Recipient }) => Recipient);
}
