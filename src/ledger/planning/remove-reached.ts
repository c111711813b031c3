import { type ContactIdentity, isKeyed } from '../../domain/contacts.ts';
import type { Channel } from '../../domain/message.ts';
import type { ReachedContacts } from '../../domain/rejected-contacts.ts';
import type { RunKind } from '../../domain/runs.ts';
import { reachedReason, type Stored } from '../reasons.ts';
import type { Connection, Transaction } from '../session.ts';
import { stagedAddress } from './remove-suppressed.ts';

/**
 * Recipients that earlier runs reached, may have reached or still will. Runs of corrected contacts and reruns exclude
 * them, so that no recipient gets a message twice.
 */

/** A run that contacts come from. */
export type OriginRun = {
  readonly run: string;
  readonly campaign: string;
  readonly kind: RunKind;
  readonly purged: boolean;
} & {
  /** How it identifies contacts. */
  readonly identity: ContactIdentity;
};

/** Finds the runs of these ids that exist. */
export async function findOrigins(client: Connection, runs: readonly string[]): Promise<OriginRun[]> {
  const { rows } = await client.query<OriginRun>(
    `
    SELECT run_id AS run, campaign, kind, purged_at IS NOT NULL AS purged,
           json_build_object(
             'key', coalesce(definition #> '{contacts,key}', '[]'),
             'duplicates', coalesce(definition #>> '{contacts,duplicates}', 'merge')
           ) AS identity
    FROM runs
    WHERE run_id = ANY ($1::text[])
    ORDER BY run_id
    `,
    [runs],
  );
  return rows;
}

/** SQL: pairs of a run and the run it was made from. */
const lineage = `
  SELECT run_id AS run, source_run AS origin FROM runs WHERE source_run IS NOT NULL
  UNION ALL
  SELECT run_id, origin FROM run_origins
`;

/** Finds these runs, the runs they were made from, the runs made from those, and so on; ordered by id. */
export async function findRelatives(client: Connection, runs: readonly string[]): Promise<OriginRun[]> {
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

/** Finds a run and all runs that it was made from. */
export async function findAncestors(client: Connection, run: string): Promise<string[]> {
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
 * Locks the campaign: until the commit, no other run of it can be made from runs. Two at once would not see each
 * other.
 */
export async function lockLineage(client: Transaction, campaign: string): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('volley lineage ' || $1, 0))`, [
    campaign,
  ]);
}

/** Runs to compare recipients with; `byKey` by their keys. */
export type ComparedRuns = { readonly runs: readonly string[]; readonly byKey: readonly string[] };

/** Compares by keys where both runs make keys in the same way, else by addresses. */
export function toComparedRuns(relatives: readonly OriginRun[], identity: ContactIdentity): ComparedRuns {
  const identityKey = ({ key, duplicates }: ContactIdentity): string =>
    JSON.stringify(key.length > 0 ? key : duplicates === 'allow');
  const comparable = relatives.filter(
    (each) => isKeyed(identity) && identityKey(each.identity) === identityKey(identity),
  );
  return { runs: relatives.map(({ run }) => run), byKey: comparable.map(({ run }) => run) };
}

/** SQL: distinct recipients of the runs in `$first`, surest reason first; `$first + 1` are runs to compare by key. */
function reachedRecipients(channel: Channel, first: number): string {
  return `
    SELECT DISTINCT ON (address, key) address, key, kind, run_id
    FROM (
      SELECT ${stagedAddress(channel)} AS address, k.key, s.run_id,
             CASE WHEN request_state = 'accepted' THEN 1 WHEN request_state IN ('planned', 'sending') THEN 2 ELSE 3 END AS rank,
             CASE WHEN request_state = 'accepted' THEN 'sent'
                  WHEN request_state IN ('planned', 'sending') THEN 'to_be_sent'
                  ELSE 'may_have_been_sent' END AS kind
      FROM recipient_states s
      LEFT JOIN recipient_keys k
        ON k.run_id = s.run_id AND k.line = s.line AND s.run_id = ANY ($${first + 1}::text[])
      WHERE s.run_id = ANY ($${first}::text[]) AND request_state NOT IN ('rejected', 'failed', 'cancelled')
        AND outcome IS DISTINCT FROM 'cancelled' AND s.address IS NOT NULL
    ) AS reached
    ORDER BY address, key, rank, run_id
  `;
}

const detail = `jsonb_build_object('kind', kind, 'run', run_id) AS detail`;

/**
 * Removes staged contacts that these runs reached, may have reached or still will.
 *
 * @returns counts by run, highest first
 */
export async function removeReached(
  client: Transaction,
  recipientColumn: string,
  channel: Channel,
  { runs, byKey }: ComparedRuns,
): Promise<ReachedContacts[]> {
  if (runs.length === 0) return [];
  const { rows } = await client.query<Stored<ReachedContacts, 'detail'>>(
    `
    WITH reached AS MATERIALIZED (${reachedRecipients(channel, 2)}), matched AS MATERIALIZED (
      SELECT s.ctid AS row, s.line, r.kind, r.run_id, false AS by_key
      FROM staged_contacts s
      JOIN reached r ON ${stagedAddress(channel)} = r.address
      WHERE r.key IS NULL
      UNION ALL
      SELECT s.ctid, s.line, r.kind, r.run_id, true
      FROM staged_contacts s
      JOIN reached r ON s.key = r.key
    ), taken_out AS (
      DELETE FROM staged_contacts WHERE ctid = ANY (ARRAY(SELECT row FROM matched))
    ), recorded AS (
      INSERT INTO left_out (line, column_name, reason, kind, related_run)
      SELECT DISTINCT ON (line) line, $1, 'duplicate', kind, run_id
      FROM matched
      ORDER BY line, by_key DESC, kind, run_id
      RETURNING kind, related_run AS run_id
    )
    SELECT count(*)::integer AS rows, ${detail}
    FROM recorded
    GROUP BY kind, run_id
    ORDER BY 1 DESC, kind, run_id COLLATE "C"
    `,
    [recipientColumn, runs, byKey],
  );
  return rows.map(({ rows: contacts, detail }) => ({ rows: contacts, detail: reachedReason(detail) }));
}
