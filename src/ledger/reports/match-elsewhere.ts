import type pg from 'pg';
import type { MatchedRecipient, ReportName } from './matched.ts';

/**
 * Finds the recipients of reports that are not where their MessageID says, or that have no MessageID of ours:
 *
 * - by the service's own number (`jobs`), which the report may also give as its MessageID. It counts within its account.
 *   Of several requests that were given this number, it is the last one that was answered before the report came.
 * - in the parts of a request that was divided. The report is about the whole one, so it proves nothing of the part.
 *
 * @returns by the place of the report in the list
 */
export async function findElsewhere(
  client: pg.ClientBase,
  reports: readonly ReportName[],
): Promise<ReadonlyMap<number, MatchedRecipient>> {
  const { rows } = await client.query<MatchedRecipient & { readonly place: number }>(
    `
    WITH RECURSIVE report AS MATERIALIZED (
      SELECT *
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[]) WITH ORDINALITY
        AS report (message_id, job_number, account, address, received_at, place)
    ), named AS (
      SELECT r.place, q.run_id, q.request, true AS whole, interval '0' AS later, r.received_at AS answered_at
      FROM report r
      JOIN requests q ON q.message_id = r.message_id
      UNION ALL
      SELECT r.place, j.run_id, j.request, true, greatest(j.answered_at - r.received_at, interval '0'), j.answered_at
      FROM report r
      JOIN jobs j ON j.job_number = ANY (ARRAY[upper(r.job_number), upper(r.message_id)]) AND j.account = r.account
      WHERE NOT EXISTS (SELECT FROM requests q WHERE q.message_id = r.message_id)
      UNION ALL
      SELECT n.place, part.run_id, part.request, false, n.later, n.answered_at
      FROM named n
      JOIN requests part ON part.run_id = n.run_id AND part.divided_from = n.request
    )
    SELECT DISTINCT ON (n.place) CAST(n.place - 1 AS integer) AS place, n.run_id AS run, n.request, a.position,
           n.whole AS "isProof", q.state, o.report_id AS "decidedBy"
    FROM named n
    JOIN report r USING (place)
    JOIN requests q ON q.run_id = n.run_id AND q.request = n.request
    JOIN chunks c ON c.run_id = n.run_id AND c.request = n.request
    CROSS JOIN LATERAL (
      SELECT CAST(position AS integer) AS position
      FROM unnest(c.addresses) WITH ORDINALITY AS a (address, position)
      WHERE ltrim(lower(a.address), '+') = ltrim(lower(r.address), '+')
      ORDER BY a.address = r.address DESC, position
      LIMIT 1
    ) a
    LEFT JOIN recipient_outcomes o
      ON o.run_id = n.run_id AND o.request = n.request AND o.position = a.position
    WHERE o.outcome IS DISTINCT FROM 'cancelled'
    ORDER BY n.place, n.later, n.answered_at DESC, n.run_id, n.request
    `,
    [
      reports.map(({ messageId }) => messageId),
      reports.map(({ jobNumber }) => jobNumber),
      reports.map(({ account }) => account),
      reports.map(({ address }) => address),
      reports.map(({ receivedAt }) => receivedAt),
    ],
  );
  return new Map(rows.map(({ place, ...recipient }) => [place, recipient]));
}
