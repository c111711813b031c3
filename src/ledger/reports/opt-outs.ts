import type pg from 'pg';

/** A report by which its recipient has opted out. */
export type OptOut = {
  readonly report: string;
  readonly source: 'reply' | 'report';
  /** What it said. */
  readonly reason: string;
};

/**
 * Suppresses whoever has opted out, in the channel and for the SubAccount of the message that is answered; for a message
 * that nobody knows, in SMS and for all. One that is suppressed already stays as it is.
 */
export async function suppressOptOuts(
  client: pg.ClientBase,
  optOuts: readonly OptOut[],
  now: Date,
): Promise<void> {
  if (optOuts.length === 0) return;
  await client.query(
    `
    INSERT INTO suppressions (channel, address, sub_account, reason, source, created_at)
    SELECT DISTINCT ON (channel, address, sub_account)
           coalesce(r.channel, 'sms') AS channel,
           lower(coalesce(c.addresses[k.position], k.address)) COLLATE "C" AS address,
           coalesce(e.sub_account, '') AS sub_account,
           o.reason || coalesce(' (run ' || k.run_id || ')', ''), o.source, $4::timestamptz
    FROM unnest($1::bigint[], $2::text[], $3::text[]) AS o (report_id, source, reason)
    JOIN reports k USING (report_id)
    LEFT JOIN runs r USING (run_id)
    LEFT JOIN requests q ON q.run_id = k.run_id AND q.request = k.request
    LEFT JOIN envelopes e ON e.run_id = q.run_id AND e.envelope = q.envelope
    LEFT JOIN chunks c ON c.run_id = k.run_id AND c.request = k.request
    ORDER BY channel, address, sub_account, o.report_id
    ON CONFLICT DO NOTHING
    `,
    [
      optOuts.map(({ report }) => report),
      optOuts.map(({ source }) => source),
      optOuts.map(({ reason }) => reason),
      now,
    ],
  );
}
