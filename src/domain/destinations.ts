import type { Destination, Destinations, MessageFields } from './message.ts';

export function listDestinations({ addresses, fields }: Destinations): Destination[] {
  const texts: readonly string[] = JSON.parse(addresses);
  const otherFields: readonly MessageFields[] = fields === null ? [] : JSON.parse(fields);
  return texts.map((address, index) => ({ Recipient: address, ...otherFields[index] }));
}

/** The JSON of `listDestinations`, without building its objects. */
export function formatDestinations(destinations: Destinations): string {
  if (destinations.count === 0) return '[]';
  const { addresses, fields } = splitTexts(destinations);
  const entries = addresses.map((address, index) => {
    const others = fields?.[index];
    return others ? `${address}",${others}` : `${address}"`;
  });
  return `[{"Recipient":"${entries.join('},{"Recipient":"')}}]`;
}

/** @param sizes recipients of each request, in order */
export function splitByRequest(destinations: Destinations, sizes: readonly number[]): Destinations[] {
  if (sizes.length === 1) return [destinations];
  const { addresses, fields } = splitTexts(destinations);
  let after = 0;
  return sizes.map((size) => {
    const from = after;
    after += size;
    return joinTexts(addresses.slice(from, after), fields?.slice(from, after));
  });
}

/** @param removed indexes */
export function removeDestinations(destinations: Destinations, removed: ReadonlySet<number>): Destinations {
  const { addresses, fields } = splitTexts(destinations);
  const isKept = (_: string, index: number): boolean => !removed.has(index);
  return joinTexts(addresses.filter(isKept), fields?.filter(isKept));
}

/**
 * Addresses without quotes, and fields without braces. JSON text contains no raw line feed, so one can only be
 * between two entries.
 */
function splitTexts({ addresses, fields }: Destinations) {
  return { addresses: addresses.slice(2, -2).split('",\n "'), fields: fields?.slice(2, -2).split('},\n{') };
}

function joinTexts(addresses: readonly string[], fields: readonly string[] | undefined): Destinations {
  const count = addresses.length;
  return {
    count,
    addresses: count === 0 ? '[]' : `["${addresses.join('",\n "')}"]`,
    fields: fields === undefined ? null : count === 0 ? '[]' : `[{${fields.join('},\n{')}}]`,
  };
}
