import type pg from 'pg';
import { reportProof } from '../requests/proof.ts';
import type { ReadReport } from './reading.ts';

/**
 * The first final outcome of a recipient stays: a second one that is equal may add a price or units that the first did
 * not have, and a different one is kept as `conflicting`. A report that is read again corrects what it said itself.
 *
 * A report proves that the service accepted the request: one that is in doubt, or waits to be sent again after a doubt, is
 * accepted, and of one that is being sent it is kept for the case that its answer is lost. A report for a recipient that
 * was left out of its request is about a message that was never sent: it matches nothing and proves nothing.
 *
 * @returns the reports whose recipient is not known
 */
export async function applyDeliveries(
  client: pg.ClientBase,
  deliveries: readonly ReadReport<'delivery'>[],
): Promise<ReadonlySet<string>> {
  if (deliveries.length === 0) return new Set();
  // Addresses are the same characters nearly always; else capitals and a plus sign may differ.
  const { rows } = await client.query<{ report_id: string }>({
    name: 'apply-deliveries',
    text: `
    WITH reading AS MATERIALIZED (
      SELECT *
      FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
                  $8::text[], $9::timestamptz[], $10::numeric[], $11::numeric[])
        AS reading (report_id, account, received_at, message_id, address, outcome, status, result, sent_at, units,
                    price)
    ), found AS MATERIALIZED (
      SELECT reading.*, q.run_id, q.request,
             coalesce(array_position(c.addresses, reading.address), (
               SELECT CAST(r.position AS integer)
               FROM unnest(c.addresses) WITH ORDINALITY AS r (address, position)
               WHERE ltrim(lower(r.address), '+') = ltrim(lower(reading.address), '+')
               LIMIT 1
             )) AS position
      FROM reading
      JOIN requests q USING (message_id)
      JOIN chunks c ON c.run_id = q.run_id AND c.request = q.request
    ), matched AS MATERIALIZED (
      SELECT f.*, o.report_id AS decided_by
      FROM found f
      LEFT JOIN recipient_outcomes o
        ON o.run_id = f.run_id AND o.request = f.request AND o.position = f.position
      WHERE f.position IS NOT NULL AND o.outcome IS DISTINCT FROM 'cancelled'
    ), deciding AS (
      SELECT DISTINCT ON (run_id, request, position) *
      FROM matched
      WHERE outcome <> 'pending'
      ORDER BY run_id, request, position, decided_by IS DISTINCT FROM report_id, report_id
    ), decided AS (
      INSERT INTO recipient_outcomes AS o
        (run_id, request, position, outcome, result, units, price, reported_at, report_id)
      SELECT run_id, request, position, outcome, result, units, price, received_at, report_id
      FROM deciding
      ON CONFLICT (run_id, request, position) DO UPDATE
      SET outcome = CASE WHEN o.report_id = excluded.report_id THEN excluded.outcome ELSE o.outcome END,
          result = CASE WHEN o.report_id = excluded.report_id THEN excluded.result ELSE o.result END,
          units = CASE WHEN o.report_id = excluded.report_id THEN excluded.units
                       WHEN o.outcome = excluded.outcome THEN coalesce(o.units, excluded.units)
                       ELSE o.units END,
          price = CASE WHEN o.report_id = excluded.report_id THEN excluded.price
                       WHEN o.outcome = excluded.outcome THEN coalesce(o.price, excluded.price)
                       ELSE o.price END
      WHERE o.outcome <> 'cancelled'
      RETURNING run_id, request, position, outcome, report_id
    ), proven AS (
      UPDATE requests q
      SET reported = true,
          state = CASE q.state WHEN 'sending' THEN 'sending' ELSE 'accepted' END,
          reason = CASE q.state WHEN 'sending' THEN q.reason ELSE '${reportProof}' END
      FROM (SELECT DISTINCT run_id, request FROM matched) m
      WHERE q.run_id = m.run_id AND q.request = m.request
        AND (q.state = 'in_doubt'
             OR (q.state = 'sending' AND NOT q.reported)
             OR (q.state = 'planned' AND q.resends > 0))
    ), kept AS (
      INSERT INTO reports AS k (report_id, account, received_at, state, message_id, address, status, result, outcome,
                                sent_at, units, price, run_id, request, position)
      SELECT reading.report_id, reading.account, reading.received_at,
             CASE
               WHEN m.request IS NULL THEN 'unmatched'
               WHEN d.report_id = reading.report_id THEN 'applied'
               WHEN reading.outcome <> 'pending' AND reading.outcome <> d.outcome THEN 'conflicting'
               ELSE 'unchanged'
             END,
             reading.message_id, reading.address, reading.status, reading.result, reading.outcome, reading.sent_at,
             reading.units, reading.price, m.run_id, m.request, m.position
      FROM reading
      LEFT JOIN matched m USING (report_id)
      LEFT JOIN decided d ON d.run_id = m.run_id AND d.request = m.request AND d.position = m.position
      ON CONFLICT (report_id) DO UPDATE
      SET state = excluded.state, detail = NULL, message_id = excluded.message_id, address = excluded.address,
          status = excluded.status, result = excluded.result, outcome = excluded.outcome, sent_at = excluded.sent_at,
          units = excluded.units, price = excluded.price, text = NULL, run_id = excluded.run_id,
          request = excluded.request, position = excluded.position
    )
    SELECT report_id FROM reading WHERE report_id NOT IN (SELECT report_id FROM matched)
    `,
    values: [
      deliveries.map(({ report }) => report),
      deliveries.map(({ account }) => account),
      deliveries.map(({ receivedAt }) => receivedAt),
      deliveries.map(({ messageId }) => messageId),
      deliveries.map(({ address }) => address),
      deliveries.map(({ outcome }) => outcome),
      deliveries.map(({ status }) => status),
      deliveries.map(({ result }) => result),
      deliveries.map(({ sentAt }) => sentAt),
      deliveries.map(({ units }) => units),
      deliveries.map(({ price }) => price),
    ],
  });
  return new Set(rows.map(({ report_id }) => report_id));
}
