import { isKeyed } from '../../domain/contacts.ts';
import { channels } from '../../domain/message.ts';
import type { Transaction } from '../session.ts';
import type { FrequencyCap, PlanRules } from './planned-run.ts';
import { findAncestors } from './remove-reached.ts';
import { stagedAddress } from './remove-suppressed.ts';

/** Contacts that would be beyond what an address may get, or an account may send, over all runs. */

/**
 * SQL: `cap`, of parameter 1, and `message`, the messages that count for each: by the row of their request if it has one,
 * else by its place in its slice (docs/reference/ledger.md). Each OFFSET 0 makes a lookup for each run, so only runs are
 * read that did not end before the period. Where one was planned before it, the time of each request decides.
 *
 * A rerun replaces the messages of its rows, so those of the runs that it was made from (parameter 2) do not count.
 */
const countedMessages = `
  cap AS MATERIALIZED (
    SELECT *
    FROM jsonb_to_recordset($1) AS c (
      cap integer, kind text, source text, campaign text, account text, channels text[], most integer, since timestamptz,
      milliseconds bigint, counts_planned boolean
    )
    LIMIT jsonb_array_length($1) -- for the planner, which would expect 100
  ), counted_run AS MATERIALIZED (
    SELECT c.cap, c.since, r.run_id, r.account, r.created_at >= c.since AS is_recent,
           c.counts_planned AND r.state IN ('planned', 'running', 'paused') AS counts_planned
    FROM cap c
    JOIN runs r ON r.kind = 'ordinary' AND r.channel = ANY (c.channels)
      AND (c.campaign IS NULL OR r.campaign = c.campaign) AND (c.account IS NULL OR r.account = c.account)
      AND (r.finished_at IS NULL OR r.finished_at >= c.since)
  ), unusual_request AS MATERIALIZED (
    SELECT r.cap, q.run_id, q.request,
           q.state IN ('accepted', 'sending', 'in_doubt') AND q.updated_at >= r.since
             OR q.state = 'planned' AND r.counts_planned AS counts
    FROM counted_run r
    CROSS JOIN LATERAL (SELECT * FROM requests q WHERE q.run_id = r.run_id OFFSET 0) q
  ), suppressed AS MATERIALIZED (
    SELECT r.cap, o.run_id, o.request, o.position
    FROM counted_run r
    CROSS JOIN LATERAL (
      SELECT * FROM recipient_outcomes o WHERE o.run_id = r.run_id AND o.outcome = 'cancelled' OFFSET 0
    ) o
  ), message AS (
    SELECT m.cap, m.run_id, m.account, m.line, m.address
    FROM (
      SELECT r.cap, r.run_id, r.account, c.first_request + a.request_offset AS request, a.position, a.line, a.address,
             CASE WHEN c.first_request + a.request_offset > s.claimed_to THEN r.counts_planned
                  ELSE r.is_recent OR r.since <= coalesce(
                    o.base_at + o.finished_ms[c.first_request + a.request_offset - s.first_request + 1] * interval '1 millisecond',
                    s.claimed_at
                  )
             END AS counts
      FROM counted_run r
      CROSS JOIN LATERAL (SELECT * FROM slices s WHERE s.run_id = r.run_id AND s.phase = 'sending' OFFSET 0) s
      LEFT JOIN LATERAL (
        SELECT base_at, finished_ms
        FROM outcomes_of_slice(s.run_id, s.slice, s.first_request, s.claimed_to)
        WHERE NOT r.is_recent
        OFFSET 0 -- so that it is read only then
      ) o ON true
      CROSS JOIN LATERAL contents_between(s.run_id, s.first_request, s.last_request) c
      CROSS JOIN LATERAL unnest(c.request_offsets, c.positions, c.lines, c.addresses)
        AS a (request_offset, position, line, address)
      OFFSET 0 -- the arrays of a slice stay out of the joins below
    ) m
    LEFT JOIN unusual_request q ON q.cap = m.cap AND q.run_id = m.run_id AND q.request = m.request
    LEFT JOIN suppressed x
      ON x.cap = m.cap AND x.run_id = m.run_id AND x.request = m.request AND x.position = m.position
    WHERE coalesce(q.counts, m.counts) AND x.cap IS NULL
      AND NOT (m.run_id = ANY ($2::text[]) AND m.line IN (SELECT line FROM staged_contacts))
  )`;

/** Parameter 1. `source` is what `rejected_contacts` says of the cap. */
function capsParameter(caps: readonly FrequencyCap[]): string {
  const rows = caps.map((each, cap) => ({
    ...each,
    cap,
    source: each.kind === 'over_frequency' ? each.of : null,
    counts_planned: each.kind === 'over_frequency',
  }));
  return JSON.stringify(rows);
}

/** Parameter 2. */
async function replacedBy(client: Transaction, { sourceRun }: PlanRules): Promise<readonly string[]> {
  return sourceRun === null ? [] : findAncestors(client, sourceRun);
}

/**
 * Removes contacts whose addresses would get more messages than these caps allow. A message that may have been accepted
 * counts.
 */
export async function removeCapped(
  client: Transaction,
  rules: PlanRules,
  caps: readonly FrequencyCap[],
): Promise<void> {
  if (caps.length === 0) return;
  const { recipientColumn, channel, account, identity } = rules;
  const address = stagedAddress(channel);
  // Only then does a list alone go beyond a cap.
  const join = isKeyed(identity) ? 'LEFT JOIN' : 'JOIN';
  await client.query(
    `
    WITH ${countedMessages}, contact AS MATERIALIZED (
      SELECT s.ctid AS row, s.line, ${address} AS address,
             ${isKeyed(identity) ? `row_number() OVER (PARTITION BY ${address} ORDER BY s.line)` : '1'} AS number
      FROM staged_contacts s
    ), sent AS MATERIALIZED (
      SELECT s.cap, ${address} AS address, count(*) AS messages,
             max(s.run_id) FILTER (WHERE s.account = $3) AS run_id
      FROM message s
      WHERE ${address} IN (SELECT address FROM contact)
      GROUP BY 1, 2
    ), beyond AS MATERIALIZED (
      SELECT DISTINCT ON (s.line) s.row, s.line, c.kind, c.source, c.milliseconds, c.most, x.run_id
      FROM contact s
      CROSS JOIN cap c
      ${join} sent x ON x.cap = c.cap AND x.address = s.address
      WHERE coalesce(x.messages, 0) + CASE WHEN c.counts_planned THEN s.number ELSE 1 END > c.most
      ORDER BY s.line, c.cap
    ), taken_out AS (
      DELETE FROM staged_contacts WHERE ctid = ANY (ARRAY(SELECT row FROM beyond))
    )
    INSERT INTO left_out (line, column_name, reason, kind, source, number, most, related_run)
    SELECT line, $4, 'suppressed', kind, source, milliseconds, most, run_id
    FROM beyond
    `,
    [capsParameter(caps), await replacedBy(client, rules), account, recipientColumn],
  );
}

/** Removes the last contacts, in file order, for which the day has no place left. */
export async function removeBeyondDailyLimit(client: Transaction, rules: PlanRules): Promise<void> {
  const { recipientColumn, account, dailyLimit } = rules;
  if (dailyLimit === undefined) return;
  const counted = { ...dailyLimit, kind: 'over_daily_limit', account, channels, counts_planned: true };
  await client.query(
    `
    WITH ${countedMessages}, beyond AS MATERIALIZED (
      SELECT ctid AS row, line
      FROM staged_contacts
      ORDER BY line
      OFFSET (SELECT greatest(c.most - (SELECT count(*) FROM message), 0) FROM cap c)
    ), taken_out AS (
      DELETE FROM staged_contacts WHERE ctid = ANY (ARRAY(SELECT row FROM beyond))
    )
    INSERT INTO left_out (line, column_name, reason, kind, most)
    SELECT b.line, $3, 'suppressed', c.kind, c.most
    FROM beyond b
    CROSS JOIN cap c
    `,
    [JSON.stringify([{ ...counted, cap: 0 }]), await replacedBy(client, rules), recipientColumn],
  );
}

/**
 * Locks the caps that count planned messages: until the commit, no other run under one of them is planned. Two at once
 * would not see each other. The timeout frees the locks of a hanging process.
 */
export async function lockCaps(
  client: Transaction,
  { frequencyCaps, dailyLimit, account }: PlanRules,
): Promise<void> {
  const owners = frequencyCaps.flatMap((cap) => (cap.kind === 'over_frequency' ? [cap.account ?? ''] : []));
  // In one order, so that planners of several caps never wait for each other.
  const names = [...new Set(dailyLimit ? [...owners, account] : owners)].toSorted();
  if (names.length === 0) return;
  await client.query("SET LOCAL idle_in_transaction_session_timeout = '5min'");
  for (const name of names)
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('volley cap ' || $1, 0))`, [name]);
}
