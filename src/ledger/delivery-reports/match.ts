import type pg from 'pg';
import type { SharedWith } from '../../domain/accounts.ts';
import { findElsewhere } from './match-elsewhere.ts';
import { type MatchedRecipient, mayBeAbout, type ReportName, sharedColumns } from './matched.ts';

/**
 * Finds the recipients of reports by MessageID and address, among messages of the account that the report came for (and of
 * those with the same webhook); none that was left out of its request. Addresses are the same characters nearly always, else capitals and a plus sign may differ. A
 * recipient that is not found so is looked for by job number, and in what the request was divided into.
 *
 * @returns by the place of the report in the list
 */
export async function findRecipients(
  client: pg.ClientBase,
  reports: readonly ReportName[],
  webhooks: readonly SharedWith[],
): Promise<ReadonlyMap<number, MatchedRecipient>> {
  const found = await findByMessageId(client, reports, webhooks);
  const others = reports.flatMap((report, place) => (found.has(place) ? [] : [{ report, place }]));
  if (others.length === 0) return found;
  const elsewhere = await findElsewhere(
    client,
    others.map(({ report }) => report),
    webhooks,
  );
  for (const [index, recipient] of elsewhere) {
    const place = others[index]?.place;
    if (place !== undefined) found.set(place, recipient);
  }
  return found;
}

async function findByMessageId(
  client: pg.ClientBase,
  reports: readonly ReportName[],
  webhooks: readonly SharedWith[],
): Promise<Map<number, MatchedRecipient>> {
  // Not a prepared statement: a plan from when the tables were small would read all of them for every batch.
  const { rows } = await client.query<Omit<MatchedRecipient, 'isProof'> & { readonly place: number }>(
    `
    SELECT CAST(f.place - 1 AS integer) AS place, f.run_id AS run, f.request, f.position, f.state
    FROM (
      SELECT r.place, q.run_id, q.request, q.state, p.position
      FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS r (message_id, address, account, place)
      JOIN requests q ON q.message_id = r.message_id
      JOIN runs u ON u.run_id = q.run_id AND ${mayBeAbout('u.account', 'r.account', '$4', '$5')}
      CROSS JOIN LATERAL position_of(q.run_id, q.request, r.address) p
      OFFSET 0 -- so that the position is looked for once, not wherever it is used
    ) f
    LEFT JOIN LATERAL (
      SELECT outcome
      FROM recipient_outcomes
      WHERE run_id = f.run_id AND request = f.request AND position = f.position
      LIMIT 1
    ) o ON true
    WHERE f.position IS NOT NULL AND o.outcome IS DISTINCT FROM 'cancelled'
    `,
    [
      reports.map(({ messageId }) => messageId),
      reports.map(({ address }) => address),
      reports.map(({ account }) => account),
      ...sharedColumns(webhooks),
    ],
  );
  return new Map(rows.map(({ place, ...recipient }) => [place, { ...recipient, isProof: true }]));
}
