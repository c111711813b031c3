import type { Transaction } from '../session.ts';

/**
 * Keeps only the first staged contacts, in file order. Rejected contacts are removed before, so all that are left
 * would be recipients.
 *
 * @returns the number of contacts that were removed
 */
export async function cutAtLimit(client: Transaction, limit: number): Promise<number> {
  const { rowCount } = await client.query(
    `
    DELETE FROM staged_contacts
    WHERE line > (SELECT line FROM staged_contacts ORDER BY line OFFSET $1::integer - 1 LIMIT 1)
    `,
    [limit],
  );
  return rowCount ?? 0;
}
