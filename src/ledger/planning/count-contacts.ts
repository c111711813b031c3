import type { ContactIdentity } from '../../domain/contacts.ts';
import type { Channel } from '../../domain/message.ts';
import {
  type CappedContacts,
  type DuplicateContacts,
  type LeftOutDigest,
  leftOutGroups,
  type SuppressedReason,
} from '../../domain/rejected-contacts.ts';
import { repeatedReason, type Stored, suppressedReason } from '../reasons.ts';
import { rejectionDetailOf } from '../runs/rejected-contacts.ts';
import type { Transaction } from '../session.ts';
import { copiedBy, isCanary } from './canary.ts';
import type { PlannedCounts } from './planned-run.ts';

/** @param beyondLimit contacts that a limit cut off; null: there is none */
export async function countContacts(client: Transaction, beyondLimit: number | null): Promise<PlannedCounts> {
  const { rows } = await client.query<PlannedCounts['contacts'] & Omit<PlannedCounts, 'contacts'>>(
    `
    SELECT kept.*, rejected.*, kept.recipients + rejected.contacts + coalesce($1, 0) AS read
    FROM (SELECT coalesce(sum(recipients), 0)::integer AS recipients, coalesce(sum(requests), 0)::integer AS requests,
                 CAST(count(*) - (
                   -- The copy for the canary has the same contents.
                   SELECT count(*) FROM sized_envelopes c JOIN sized_envelopes e ON e.staged = ${copiedBy('c.staged')} WHERE ${isCanary('c.staged')}
                 ) AS integer) AS envelopes
          FROM sized_envelopes) kept,
         (SELECT count(*)::integer AS contacts,
                 count(*) FILTER (WHERE reason = 'invalid')::integer AS invalid,
                 count(*) FILTER (WHERE reason = 'duplicate')::integer AS duplicate,
                 count(*) FILTER (WHERE reason = 'suppressed')::integer AS suppressed
          FROM (SELECT reason FROM staged_rejections UNION ALL SELECT reason FROM left_out) each) rejected
    `,
    [beyondLimit],
  );
  const [counted] = rows;
  if (!counted) throw new Error('Aggregates without groups have one row.');
  const { read, invalid, duplicate, suppressed, recipients, requests, envelopes } = counted;
  const contacts = { read, invalid, duplicate, suppressed, ...(beyondLimit !== null && { beyondLimit }) };
  return { contacts, recipients, requests, envelopes };
}

const maxExamples = 3;

/** Counts duplicates that are left out, with some of them. */
export async function listRepeated(
  client: Transaction,
  { key }: Pick<ContactIdentity, 'key'>,
): Promise<DuplicateContacts> {
  const { rows } = await client.query<Omit<DuplicateContacts, 'examples'>>(`
    SELECT count(*) FILTER (WHERE differs IS NOT NULL)::integer AS rows,
           count(*) FILTER (WHERE differs)::integer AS differing
    FROM left_out
  `);
  const { rows: examples } = await client.query<Stored<DuplicateContacts['examples'][number], 'detail'>>(
    `
    SELECT line, ${rejectionDetailOf('l', 'NULL', '$2::jsonb')} AS detail
    FROM left_out l
    WHERE differs IS NOT NULL
    ORDER BY NOT differs, line
    LIMIT $1
    `,
    [maxExamples, JSON.stringify(key)],
  );
  const shown = examples.map(({ line, detail }) => ({ line, detail: repeatedReason(detail) }));
  return { ...(rows[0] ?? { rows: 0, differing: 0 }), examples: shown };
}

/** Counts contacts that are beyond a cap, the largest group first. */
export async function listCapped(client: Transaction): Promise<CappedContacts[]> {
  const { rows } = await client.query<Stored<CappedContacts, 'detail'>>(`
    SELECT count(*)::integer AS rows,
           jsonb_build_object('kind', kind, 'most', most, 'milliseconds', number, 'of', source, 'run', NULL) AS detail
    FROM left_out
    WHERE kind IN ('over_frequency', 'over_daily_limit')
    GROUP BY kind, most, number, source
    ORDER BY 1 DESC, kind, source
  `);
  return rows.map(({ rows: contacts, detail }) => ({ rows: contacts, detail: suppressedReason(detail) }));
}

/** Lists the reasons of the first suppressed contacts. */
export async function listSuppressedReasons(
  client: Transaction,
  channel: Channel,
): Promise<SuppressedReason[]> {
  const { rows } = await client.query<Stored<{ readonly detail: SuppressedReason }>>(
    `
    SELECT ${rejectionDetailOf('l', '$2::text', 'NULL')} AS detail
    FROM left_out l
    WHERE reason = 'suppressed'
    ORDER BY line
    LIMIT $1
    `,
    [maxExamples, channel],
  );
  return rows.map(({ detail }) => suppressedReason(detail));
}

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
