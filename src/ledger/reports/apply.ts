import type pg from 'pg';
import type { DeliveryOutcome } from '../../domain.ts';
import { inSession } from '../connection.ts';
import { reportProof } from '../requests/proof.ts';

/** A report in the inbox that has not been looked at. */
export type InboxReport = {
  /** A bigint, as text. */
  readonly report: string;
  readonly contentType: string;
  readonly body: Buffer;
};

/** What a report in the inbox was found to say. */
export type ReadReport = { readonly report: string } & (
  | {
      readonly kind: 'delivery';
      readonly messageId: string;
      readonly address: string;
      readonly outcome: DeliveryOutcome | 'pending';
      readonly result: string | null;
      /** Decimal text. */
      readonly units: string | null;
      /** Decimal text, in the account's currency. */
      readonly price: string | null;
    }
  | { readonly kind: 'inbound' }
  | { readonly kind: 'unreadable'; readonly why: string }
);

/**
 * Takes a batch of reports from the inbox, has them read, and applies them, in one transaction. Safe with several
 * appliers at once, and again after a crash.
 *
 * @param read pure: what the bytes of a report say
 * @returns how many were taken; 0 when the inbox is empty
 */
export async function applyReports(
  pool: pg.Pool,
  limit: number,
  read: (report: InboxReport) => ReadReport,
): Promise<number> {
  return inSession(pool, async (client) => {
    await client.query('BEGIN');
    const reports = await takeReports(client, limit);
    const readings = reports.map(read);
    await applyDeliveries(
      client,
      readings.filter((reading) => reading.kind === 'delivery'),
    );
    await markOthers(
      client,
      readings.filter((reading) => reading.kind !== 'delivery'),
    );
    await client.query('COMMIT');
    return reports.length;
  });
}

async function takeReports(client: pg.PoolClient, limit: number): Promise<InboxReport[]> {
  const { rows } = await client.query<{ report_id: string; content_type: string; body: Buffer }>(
    `
    SELECT report_id, content_type, body
    FROM delivery_reports
    WHERE state = 'received'
    ORDER BY report_id
    LIMIT $1
    FOR UPDATE SKIP LOCKED
    `,
    [limit],
  );
  return rows.map(({ report_id, content_type, body }) => ({
    report: report_id,
    contentType: content_type,
    body,
  }));
}

/**
 * The first final outcome of a recipient stays; a second, equal one changes nothing, and a different one is kept in the
 * inbox as `conflicting`. A report proves that the service accepted the request: one that is in doubt, or waits to be sent
 * again after a doubt, is accepted, and of one that is being sent it is kept for the case that its answer is lost. A report
 * for a recipient that was left out of its request is about a message that was never sent: it matches nothing and proves
 * nothing.
 */
async function applyDeliveries(
  client: pg.PoolClient,
  deliveries: readonly Extract<ReadReport, { kind: 'delivery' }>[],
): Promise<void> {
  if (deliveries.length === 0) return;
  await client.query(
    `
    WITH reading AS MATERIALIZED (
      SELECT *
      FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[], $7::numeric[])
        AS reading (report_id, message_id, address, outcome, result, units, price)
    ), matched AS MATERIALIZED (
      SELECT reading.*, q.run_id, q.request, r.position, o.outcome AS earlier
      FROM reading
      JOIN requests q USING (message_id)
      JOIN chunks c ON c.run_id = q.run_id AND c.request = q.request
      JOIN LATERAL unnest(c.addresses) WITH ORDINALITY AS r (address, position)
        ON ltrim(lower(r.address), '+') = ltrim(lower(reading.address), '+')
      LEFT JOIN recipient_outcomes o
        ON o.run_id = q.run_id AND o.request = q.request AND o.position = r.position
      WHERE o.outcome IS DISTINCT FROM 'cancelled'
    ), deciding AS (
      SELECT DISTINCT ON (run_id, request, position) *
      FROM matched
      WHERE outcome <> 'pending' AND earlier IS NULL
      ORDER BY run_id, request, position, report_id
    ), inserted AS (
      INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, units, price, reported_at)
      SELECT d.run_id, d.request, d.position, d.outcome, d.result, d.units, d.price, i.received_at
      FROM deciding d
      JOIN delivery_reports i USING (report_id)
      ON CONFLICT DO NOTHING
      RETURNING run_id, request, position
    ), applied AS (
      SELECT run_id, request, position, report_id, outcome
      FROM deciding
      JOIN inserted USING (run_id, request, position)
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
    )
    UPDATE delivery_reports i
    SET run_id = m.run_id, request = m.request, position = m.position,
        state = CASE
          WHEN m.request IS NULL THEN 'unmatched'
          WHEN EXISTS (SELECT FROM applied a WHERE a.report_id = i.report_id) THEN 'applied'
          WHEN m.outcome <> 'pending' AND m.outcome <> coalesce(m.earlier, a.outcome) THEN 'conflicting'
          ELSE 'unchanged'
        END
    FROM reading
    LEFT JOIN matched m USING (report_id)
    LEFT JOIN applied a ON a.run_id = m.run_id AND a.request = m.request AND a.position = m.position
    WHERE i.report_id = reading.report_id
    `,
    [
      deliveries.map(({ report }) => report),
      deliveries.map(({ messageId }) => messageId),
      deliveries.map(({ address }) => address),
      deliveries.map(({ outcome }) => outcome),
      deliveries.map(({ result }) => result),
      deliveries.map(({ units }) => units),
      deliveries.map(({ price }) => price),
    ],
  );
}

async function markOthers(
  client: pg.PoolClient,
  others: readonly Exclude<ReadReport, { kind: 'delivery' }>[],
): Promise<void> {
  if (others.length === 0) return;
  await client.query(
    `
    UPDATE delivery_reports i
    SET state = o.state, detail = o.detail
    FROM unnest($1::bigint[], $2::text[], $3::text[]) AS o (report_id, state, detail)
    WHERE i.report_id = o.report_id
    `,
    [
      others.map(({ report }) => report),
      others.map(({ kind }) => kind),
      others.map((other) => (other.kind === 'unreadable' ? other.why : null)),
    ],
  );
}
