import type pg from 'pg';
import type { ReadReport } from './reading.ts';

/** Keeps messages that came in, with the recipient they answer where that is known. */
export async function keepInbound(
  client: pg.ClientBase,
  messages: readonly ReadReport<'inbound'>[],
): Promise<void> {
  if (messages.length === 0) return;
  await client.query({
    name: 'keep-inbound',
    text: `
    INSERT INTO reports AS k (report_id, account, received_at, state, message_id, address, text, run_id, request,
                              position)
    SELECT m.report_id, m.account, m.received_at, 'inbound', m.message_id, m.address, m.text, q.run_id, q.request,
           (SELECT CAST(r.position AS integer)
            FROM unnest(c.addresses) WITH ORDINALITY AS r (address, position)
            WHERE ltrim(lower(r.address), '+') = ltrim(lower(m.address), '+')
            LIMIT 1)
    FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[])
      AS m (report_id, account, received_at, message_id, address, text)
    LEFT JOIN requests q USING (message_id)
    LEFT JOIN chunks c ON c.run_id = q.run_id AND c.request = q.request
    ON CONFLICT (report_id) DO UPDATE
    SET state = 'inbound', detail = NULL, message_id = excluded.message_id, address = excluded.address,
        text = excluded.text, run_id = excluded.run_id, request = excluded.request, position = excluded.position,
        status = NULL, result = NULL, outcome = NULL, sent_at = NULL, units = NULL, price = NULL
    `,
    values: [
      messages.map(({ report }) => report),
      messages.map(({ account }) => account),
      messages.map(({ receivedAt }) => receivedAt),
      messages.map(({ messageId }) => messageId),
      messages.map(({ address }) => address),
      messages.map(({ text }) => text),
    ],
  });
}

/** Says of what nobody can read why that is. */
export async function keepUnreadable(
  client: pg.ClientBase,
  unreadable: readonly ReadReport<'unreadable'>[],
): Promise<void> {
  if (unreadable.length === 0) return;
  await client.query({
    name: 'keep-unreadable',
    text: `
    INSERT INTO reports AS k (report_id, account, received_at, state, detail)
    SELECT report_id, account, received_at, 'unreadable', why
    FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::text[])
      AS u (report_id, account, received_at, why)
    ON CONFLICT (report_id) DO UPDATE
    SET state = 'unreadable', detail = excluded.detail
    `,
    values: [
      unreadable.map(({ report }) => report),
      unreadable.map(({ account }) => account),
      unreadable.map(({ receivedAt }) => receivedAt),
      unreadable.map(({ why }) => why),
    ],
  });
}
