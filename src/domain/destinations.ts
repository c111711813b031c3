import type { Destination, Destinations, MessageFields } from './message.ts';

export function listDestinations({ addresses, fields }: Destinations): Destination[] {
  const all: readonly string[] = JSON.parse(addresses);
  const others: readonly MessageFields[] = fields === null ? [] : JSON.parse(fields);
  return all.map((address, index) => ({ Recipient: address, ...others[index] }));
}

/** The JSON of what `listDestinations` gives, without making it. */
export function writeDestinations(destinations: Destinations): string {
  if (destinations.count === 0) return '[]';
  const { addresses, fields } = splitDestinations(destinations);
  const entries = addresses.map((address, place) => {
    const others = fields?.[place];
    return others ? `${address}",${others}` : `${address}"`;
  });
  return `[{"Recipient":"${entries.join('},{"Recipient":"')}}]`;
}

/** The destinations of neighbouring requests, a request at a time. */
export function divideDestinations(destinations: Destinations, sizes: readonly number[]): Destinations[] {
  if (sizes.length === 1) return [destinations];
  const { addresses, fields } = splitDestinations(destinations);
  let after = 0;
  return sizes.map((size) => {
    const from = after;
    after += size;
    return joinDestinations(addresses.slice(from, after), fields?.slice(from, after));
  });
}

/** @param places of those to leave out, from 0 */
export function leaveOutDestinations(destinations: Destinations, places: ReadonlySet<number>): Destinations {
  const { addresses, fields } = splitDestinations(destinations);
  const stays = (_: string, place: number): boolean => !places.has(place);
  return joinDestinations(addresses.filter(stays), fields?.filter(stays));
}

/**
 * The addresses as JSON writes them between their quotes, and the fields of each as it writes them between their braces. In
 * JSON no text holds a line feed, so one that stands there is between two of them.
 */
function splitDestinations({ addresses, fields }: Destinations) {
  return { addresses: addresses.slice(2, -2).split('",\n "'), fields: fields?.slice(2, -2).split('},\n{') };
}

function joinDestinations(addresses: readonly string[], fields: readonly string[] | undefined): Destinations {
  const count = addresses.length;
  return {
    count,
    addresses: count === 0 ? '[]' : `["${addresses.join('",\n "')}"]`,
    fields: fields === undefined ? null : count === 0 ? '[]' : `[{${fields.join('},\n{')}}]`,
  };
}
