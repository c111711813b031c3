import type { AccountShare } from '../../domain/account-sharing.ts';
import { batchOf } from '../batch.ts';
import { comparedAddress } from '../compared-address.ts';
import { recipientOf, requestOf } from '../request-rows.ts';
import type { Transaction } from '../session.ts';
import { sharedColumns } from './matched-recipient.ts';

export type OptOut = {
  readonly report: string;
  readonly source: 'reply' | 'report';
  /** In the words of the recipient or the service. */
  readonly reason: string;
  /** Of a message that matches none of ours; empty: all. */
  readonly subAccount: string;
};

const optOutColumns = batchOf<OptOut>({
  report_id: ['bigint', ({ report }) => report],
  source: ['text', ({ source }) => source],
  reason: ['text', ({ reason }) => reason],
  sub_account: ['text', ({ subAccount }) => subAccount],
});

/**
 * Suppresses recipients who opted out, in the channel, account and SubAccount of the message that they answer. A
 * reply to no known message counts for SMS, the account that received it and the SubAccount that the service names,
 * or all. Existing suppressions stay, and those that an operator removed since stay removed.
 *
 * @param shared accounts that use the suppressions of another
 */
export async function suppressOptOuts(
  client: Transaction,
  optOuts: readonly OptOut[],
  shared: readonly AccountShare[],
  now: Date,
): Promise<void> {
  if (optOuts.length === 0) return;
  await client.query(
    `
    WITH opted_out AS (
      SELECT o.report_id, k.received_at, coalesce(r.channel, 'sms') AS channel,
             -- Written like addresses of recipients.
             ${comparedAddress(`coalesce(c.address, regexp_replace(k.address, '^[1-9][0-9]{6,14}$', '+\\&'))`)}
               AS address,
             coalesce(w.of, r.account, k.account) AS account,
             CASE WHEN q.request IS NULL THEN o.sub_account ELSE coalesce(e.sub_account, '') END AS sub_account,
             o.reason, k.run_id, o.source
      FROM ${optOutColumns.table('o', 4)}
      JOIN unusual_delivery_reports k USING (report_id)
      LEFT JOIN runs r USING (run_id)
      LEFT JOIN unnest($2::text[], $3::text[]) AS w (account, of) ON w.account = coalesce(r.account, k.account)
      LEFT JOIN ${requestOf('k.run_id', 'k.request')} q ON true
      LEFT JOIN envelopes e ON e.run_id = q.run_id AND e.envelope = q.envelope
      LEFT JOIN ${recipientOf('k.run_id', 'k.request', 'k.position')} c ON true
    )
    INSERT INTO suppressions (channel, address, account, sub_account, reason, run_id, source, created_at)
    SELECT DISTINCT ON (channel, address, account, sub_account)
           channel, address, account, sub_account, reason, run_id, source, $1::timestamptz
    FROM opted_out o
    WHERE NOT EXISTS (
      SELECT FROM removed_suppressions s
      WHERE s.channel = o.channel AND s.address = o.address AND s.account = o.account
        AND s.sub_account = o.sub_account AND s.removed_at >= o.received_at
    )
    ORDER BY channel, address, account, sub_account, report_id
    ON CONFLICT DO NOTHING
    `,
    [now, ...sharedColumns(shared), ...optOutColumns.values(optOuts)],
  );
}
