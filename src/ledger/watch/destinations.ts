import type { ReadConnection } from '../session.ts';

/** A mail domain, or the first six characters of phone numbers, with its recipients in the run. */
export type Destination = { readonly destination: string; readonly recipients: number };

/** Reports of fewer recipients could not show that something is wrong. */
export const fewestRecipients = 50;

export const mostDestinations = 100;

/** SQL: the largest destinations of the staged contacts of this session, those with the most recipients first. */
export const largestDestinations = `
  SELECT destination_of(address) AS destination, count(*)::integer AS recipients
  FROM staged_contacts
  GROUP BY 1
  HAVING count(*) >= ${fewestRecipients}
  ORDER BY recipients DESC, destination
  LIMIT ${mostDestinations}`;

export async function listLargestDestinations(client: ReadConnection): Promise<Destination[]> {
  return (await client.query<Destination>(largestDestinations)).rows;
}
