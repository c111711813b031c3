import type { AccountShare } from '../../domain/account-sharing.ts';
import { batchOf } from '../batch.ts';
import { requestOf } from '../request-rows.ts';
import type { RequestKey } from '../requests/by-message-id.ts';
import type { Transaction } from '../session.ts';
import {
  findNamedRequest,
  type MatchedRecipient,
  mayConcern,
  type NamedRequests,
  sharedColumns,
} from './matched-recipient.ts';
import type { ParsedReport } from './report-content.ts';
import { replaceEarlierReport } from './store-deliveries.ts';

type MatchedReply = ParsedReport<'inbound'> & {
  readonly recipient: MatchedRecipient | undefined;
  readonly named: RequestKey | undefined;
};

const replies = batchOf<MatchedReply>({
  report_id: ['bigint', ({ report }) => report],
  account: ['text', ({ account }) => account],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
  message_id: ['text', ({ messageId }) => messageId],
  job_number: ['text', ({ jobNumber }) => jobNumber],
  address: ['text', ({ address }) => address],
  text: ['text', ({ text }) => text],
  run_id: ['text', ({ recipient }) => recipient?.run ?? null],
  request: ['integer', ({ recipient }) => recipient?.request ?? null],
  position: ['integer', ({ recipient }) => recipient?.position ?? null],
  named_run: ['text', ({ named }) => named?.run ?? null],
  named_request: ['integer', ({ named }) => named?.request ?? null],
});

/** Stores replies with their recipients. A reply from another phone may match the request alone. */
export async function storeReplies(
  client: Transaction,
  messages: readonly ParsedReport<'inbound'>[],
  {
    recipients,
    requests,
    webhooks,
  }: {
    readonly recipients: ReadonlyMap<string, MatchedRecipient>;
    readonly requests: NamedRequests;
    readonly webhooks: readonly AccountShare[];
  },
): Promise<void> {
  if (messages.length === 0) return;
  const matched = messages.map((message) => ({
    ...message,
    recipient: recipients.get(message.report),
    named: findNamedRequest(message, requests),
  }));
  // Not prepared: a plan made for small tables would scan large ones.
  await client.query(
    `
    INSERT INTO unusual_delivery_reports AS k (report_id, account, received_at, state, message_id, job_number, address, text, run_id,
                              request, position)
    SELECT m.report_id, m.account, m.received_at, 'inbound', m.message_id, m.job_number, m.address, m.text,
           coalesce(m.run_id, q.run_id), coalesce(m.request, q.request),
           coalesce(m.position, (SELECT p.position FROM position_of(q.run_id, q.request, m.address) p))
    FROM ${replies.table('m', 3)}
    LEFT JOIN LATERAL (
      SELECT n.run_id, n.request
      FROM runs u
      JOIN ${requestOf('u.run_id', 'm.named_request')} n ON true
      WHERE u.run_id = m.named_run AND m.run_id IS NULL AND ${mayConcern('u.account', 'm.account', '$1', '$2')}
    ) q ON true
    ${replaceEarlierReport}
    `,
    [...sharedColumns(webhooks), ...replies.values(matched)],
  );
}

const unreadableColumns = batchOf<ParsedReport<'unreadable'>>({
  report_id: ['bigint', ({ report }) => report],
  account: ['text', ({ account }) => account],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
  why: ['text', ({ why }) => why],
});

export async function storeUnreadable(
  client: Transaction,
  unreadable: readonly ParsedReport<'unreadable'>[],
): Promise<void> {
  if (unreadable.length === 0) return;
  await client.query({
    name: 'store-unreadable',
    text: `
    INSERT INTO unusual_delivery_reports AS k (report_id, account, received_at, state, detail)
    SELECT report_id, account, received_at, 'unreadable', why
    FROM ${unreadableColumns.table('u')}
    ${replaceEarlierReport}
    `,
    values: unreadableColumns.values(unreadable),
  });
}
