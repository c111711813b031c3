import type pg from 'pg';
import type { SharedWith } from '../../domain/accounts.ts';
import { requestOf } from '../request-rows.ts';
import { type MatchedRecipient, mayBeAbout, type NamedRequests, namedBy, sharedColumns } from './matched.ts';
import type { ReadReport } from './reading.ts';

/**
 * Keeps messages that came in, with the recipient they answer where that is known. Where it is not, as of another phone that
 * answers, the request alone may be known.
 *
 * @param recipients by report
 */
export async function keepInbound(
  client: pg.ClientBase,
  messages: readonly ReadReport<'inbound'>[],
  recipients: ReadonlyMap<string, MatchedRecipient>,
  requests: NamedRequests,
  webhooks: readonly SharedWith[],
): Promise<void> {
  if (messages.length === 0) return;
  const found = messages.map(({ report }) => recipients.get(report));
  const named = messages.map((message) => namedBy(message, requests));
  // Not a prepared statement: a plan from when the tables were small would read all of them for every reply.
  await client.query(
    `
    INSERT INTO unusual_reports AS k (report_id, account, received_at, state, message_id, job_number, address, text, run_id,
                              request, position)
    SELECT m.report_id, m.account, m.received_at, 'inbound', m.message_id, m.job_number, m.address, m.text,
           coalesce(m.run_id, q.run_id), coalesce(m.request, q.request),
           coalesce(m.position, (SELECT p.position FROM position_of(q.run_id, q.request, m.address) p))
    FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
                $8::text[], $9::integer[], $10::integer[], $13::text[], $14::integer[])
      AS m (report_id, account, received_at, message_id, job_number, address, text, run_id, request, position,
            named_run, named_request)
    LEFT JOIN LATERAL (
      SELECT n.run_id, n.request
      FROM runs u
      JOIN ${requestOf('u.run_id', 'm.named_request')} n ON true
      WHERE u.run_id = m.named_run AND m.run_id IS NULL AND ${mayBeAbout('u.account', 'm.account', '$11', '$12')}
    ) q ON true
    ON CONFLICT (report_id) DO UPDATE
    SET state = 'inbound', detail = NULL, message_id = excluded.message_id, address = excluded.address,
        job_number = excluded.job_number, text = excluded.text, run_id = excluded.run_id, request = excluded.request, position = excluded.position,
        status = NULL, result = NULL, outcome = NULL, sent_at = NULL, units = NULL, price = NULL
    `,
    [
      messages.map(({ report }) => report),
      messages.map(({ account }) => account),
      messages.map(({ receivedAt }) => receivedAt),
      messages.map(({ messageId }) => messageId),
      messages.map(({ jobNumber }) => jobNumber),
      messages.map(({ address }) => address),
      messages.map(({ text }) => text),
      found.map((recipient) => recipient?.run ?? null),
      found.map((recipient) => recipient?.request ?? null),
      found.map((recipient) => recipient?.position ?? null),
      ...sharedColumns(webhooks),
      named.map((request) => request?.run ?? null),
      named.map((request) => request?.request ?? null),
    ],
  );
}

/** Keeps of reports that cannot be read why that is. */
export async function keepUnreadable(
  client: pg.ClientBase,
  unreadable: readonly ReadReport<'unreadable'>[],
): Promise<void> {
  if (unreadable.length === 0) return;
  await client.query({
    name: 'keep-unreadable',
    text: `
    INSERT INTO unusual_reports AS k (report_id, account, received_at, state, detail)
    SELECT report_id, account, received_at, 'unreadable', why
    FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::text[])
      AS u (report_id, account, received_at, why)
    ON CONFLICT (report_id) DO UPDATE
    SET state = 'unreadable', detail = excluded.detail, message_id = NULL, job_number = NULL, address = NULL,
        status = NULL, result = NULL, outcome = NULL, sent_at = NULL, units = NULL, price = NULL, text = NULL,
        run_id = NULL, request = NULL, position = NULL
    `,
    values: [
      unreadable.map(({ report }) => report),
      unreadable.map(({ account }) => account),
      unreadable.map(({ receivedAt }) => receivedAt),
      unreadable.map(({ why }) => why),
    ],
  });
}
