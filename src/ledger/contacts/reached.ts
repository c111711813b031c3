import type pg from 'pg';
import type { Channel } from '../../domain/message.ts';
import { streamRows } from '../cursor.ts';
import { comparedAddress } from './suppress.ts';

/**
 * Recipients whom runs have reached, may have reached or still will reach. A run of mended contacts, or of another run's
 * recipients, leaves them out: mending reaches no recipient twice.
 */

/** A recipient by the address as it is compared, and why it is left out. */
export type ReachedRecipient = { readonly address: string; readonly detail: string };

/** A run as the origin of contacts is looked up. */
export type OriginRun = { readonly run: string; readonly campaign: string; readonly purged: boolean };

/** Of these ids, the runs that there are. */
export async function findOrigins(
  client: pg.Pool | pg.ClientBase,
  runs: readonly string[],
): Promise<OriginRun[]> {
  const { rows } = await client.query<OriginRun>(
    `
    SELECT run_id AS run, campaign, purged_at IS NOT NULL AS purged
    FROM runs
    WHERE run_id = ANY ($1::text[])
    ORDER BY run_id
    `,
    [runs],
  );
  return rows;
}

/** SQL: which run was made from which. */
const lineage = `
  SELECT run_id AS run, source_run AS origin FROM runs WHERE source_run IS NOT NULL
  UNION ALL
  SELECT run_id, origin FROM run_origins
`;

/** Runs, all runs that they were made from, all that were made from any of those, and so on; in the order of their ids. */
export async function findRelatives(
  client: pg.Pool | pg.ClientBase,
  runs: readonly string[],
): Promise<OriginRun[]> {
  const { rows } = await client.query<{ run: string }>(
    `
    WITH RECURSIVE lineage AS (${lineage}), relatives AS (
      SELECT unnest($1::text[]) AS run
      UNION
      SELECT CASE WHEN l.origin = r.run THEN l.run ELSE l.origin END
      FROM lineage l
      JOIN relatives r ON r.run IN (l.origin, l.run)
    )
    SELECT run FROM relatives
    `,
    [runs],
  );
  return findOrigins(
    client,
    rows.map(({ run }) => run),
  );
}

/** A run, and the runs that it was made from. */
export async function findAncestors(client: pg.ClientBase, run: string): Promise<string[]> {
  const { rows } = await client.query<{ run: string }>(
    `
    WITH RECURSIVE lineage AS (${lineage}), ancestors AS (
      SELECT $1::text AS run
      UNION
      SELECT l.origin FROM lineage l JOIN ancestors a ON a.run = l.run
    )
    SELECT run FROM ancestors
    `,
    [run],
  );
  return rows.map(({ run: ancestor }) => ancestor);
}

/**
 * Until the end of the transaction, no other run of the campaign is made from runs: two that are planned at once would not
 * see each other.
 */
export async function lockLineage(client: pg.ClientBase, campaign: string): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('volley lineage ' || $1, 0))`, [
    campaign,
  ]);
}

/** SQL: recipients of the runs `$first`, once for each address; what is surest comes first. */
function reachedRecipients(channel: Channel, first: number): string {
  return `
    SELECT DISTINCT ON (address) address, words || run_id AS detail
    FROM (
      SELECT ${comparedAddress(channel)} AS address, q.run_id,
             CASE WHEN q.state = 'accepted' THEN 1 WHEN q.state IN ('planned', 'sending') THEN 2 ELSE 3 END AS rank,
             CASE WHEN q.state = 'accepted' THEN 'sent to by run '
                  WHEN q.state IN ('planned', 'sending') THEN 'to be sent to by run '
                  ELSE 'may have been sent to by run ' END AS words
      FROM requests q
      JOIN chunks c USING (run_id, request)
      CROSS JOIN LATERAL unnest(c.addresses) WITH ORDINALITY AS s (address, position)
      LEFT JOIN recipient_outcomes o
        ON o.run_id = q.run_id AND o.request = q.request AND o.position = s.position
      WHERE q.run_id = ANY ($${first}::text[]) AND q.state NOT IN ('rejected', 'failed', 'cancelled')
        AND o.outcome IS DISTINCT FROM 'cancelled' AND s.address IS NOT NULL
    ) AS reached
    ORDER BY address, rank, run_id
  `;
}

/** Within the caller's transaction. */
export async function* streamReached(
  client: pg.PoolClient,
  channel: Channel,
  runs: readonly string[],
): AsyncGenerator<readonly ReachedRecipient[], void, undefined> {
  const query = { sql: reachedRecipients(channel, 1), values: [runs] };
  yield* streamRows<ReachedRecipient>(client, 'reached', query, 5_000);
}

/**
 * Takes out staged contacts whom these runs have reached, may have reached or still will.
 *
 * @returns how many
 */
export async function leaveOutReached(
  client: pg.PoolClient,
  recipientColumn: string,
  channel: Channel,
  runs: readonly string[],
): Promise<number> {
  if (runs.length === 0) return 0;
  const { rowCount } = await client.query(
    `
    WITH reached AS MATERIALIZED (${reachedRecipients(channel, 2)}), taken_out AS (
      DELETE FROM staged_contacts s
      USING reached r
      WHERE ${comparedAddress(channel)} = r.address
      RETURNING s.line, r.detail
    )
    INSERT INTO left_out
    SELECT line, $1, 'duplicate', detail
    FROM taken_out
    `,
    [recipientColumn, runs],
  );
  return rowCount ?? 0;
}
