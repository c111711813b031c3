import { type LeftOutDigest, leftOutGroups } from '../../domain/rejected-contacts.ts';
import type { Transaction } from '../session.ts';

/** Digests which contacts were left out. */
export async function digestLeftOut(client: Transaction): Promise<LeftOutDigest> {
  const { rows } = await client.query<LeftOutDigest>(
    `
    WITH grouped AS MATERIALIZED (
      SELECT line, left_out_group
      FROM left_out
      JOIN unnest($1::text[], $2::text[]) AS known (kind, left_out_group) USING (kind)
    )
    SELECT encode(sha256(convert_to(
             coalesce(string_agg(line || ' ' || left_out_group, ',' ORDER BY line), ''), 'UTF8'
           )), 'hex') AS sha256,
           (SELECT coalesce(json_object_agg(left_out_group, contacts), '{}')
            FROM (SELECT left_out_group, count(*) AS contacts FROM grouped GROUP BY 1) counted) AS counts
    FROM grouped
    `,
    [Object.keys(leftOutGroups), Object.values(leftOutGroups)],
  );
  const [digest] = rows;
  if (!digest) throw new Error('An aggregate without groups has one row.');
  // In the order of a plan file, whose own digest depends on it.
  const { counts, sha256 } = digest;
  return { counts, sha256 };
}
