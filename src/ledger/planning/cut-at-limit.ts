import type { Transaction } from '../session.ts';

export type BeyondLimit = {
  readonly contacts: number;
  /** Paths of the files that only their messages carry, or also others. */
  readonly files: readonly string[];
};

/**
 * Keeps only the first staged contacts, in file order. Rejected contacts are removed before, so all that are left
 * would be recipients.
 *
 * @returns what was removed
 */
export async function cutAtLimit(client: Transaction, limit: number): Promise<BeyondLimit> {
  const { rows } = await client.query<BeyondLimit>(
    `
    WITH cut AS MATERIALIZED (
      DELETE FROM staged_contacts
      WHERE line > (SELECT line FROM staged_contacts ORDER BY line OFFSET $1::integer - 1 LIMIT 1)
      RETURNING envelope
    ), other AS (
      SELECT CAST(other_fields AS jsonb) AS fields
      FROM staged_envelopes
      WHERE other_fields IS NOT NULL AND envelope IN (SELECT envelope FROM cut)
    )
    SELECT (SELECT count(*)::integer FROM cut) AS contacts,
           ARRAY(
             SELECT f ->> 'path' FROM other CROSS JOIN LATERAL jsonb_array_elements(fields -> 'files') AS f
             UNION
             SELECT a.value FROM other CROSS JOIN LATERAL jsonb_each_text(fields -> 'audio') AS a
           ) AS files
    `,
    [limit],
  );
  return rows[0] ?? { contacts: 0, files: [] };
}
