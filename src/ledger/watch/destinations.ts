import type { ReadConnection } from '../session.ts';

/** A mail domain, or the first six characters of phone numbers, with its recipients in the run. */
export type Destination = { readonly destination: string; readonly recipients: number };

const isMail = (address: string): string => `position('@' IN ${address}) > 0`;

/**
 * SQL: the domain of an e-mail address, or the first six characters of a phone number, such as +61412. It is that of the
 * function `destination_of`, which a plan without a ledger does not have.
 */
export const destinationOf = (address: string): string =>
  `CASE WHEN ${isMail(address)} THEN lower(split_part(${address}, '@', -1)) ELSE left(${address}, 6) END`;

/** Reports of fewer recipients could not show that something is wrong. */
export const fewestRecipients = 50;

const mostDestinations = 100;

/**
 * SQL: the largest destinations of the staged contacts of this session, those with the most recipients first. Their names
 * outlive a purge, so the domain of a person with many rows is none of them.
 */
export const largestDestinations = `
  SELECT ${destinationOf('address')} AS destination, count(*)::integer AS recipients
  FROM staged_contacts
  GROUP BY 1
  HAVING count(*) FILTER (WHERE NOT ${isMail('address')}) + count(DISTINCT hashtext(address)) FILTER (WHERE ${isMail('address')}) >= ${fewestRecipients}
  ORDER BY recipients DESC, destination
  LIMIT ${mostDestinations}`;

export async function listLargestDestinations(client: ReadConnection): Promise<Destination[]> {
  return (await client.query<Destination>(largestDestinations)).rows;
}
