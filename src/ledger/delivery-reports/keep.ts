import type pg from 'pg';
import type { ReportState } from '../../domain/delivery-reports.ts';
import type { FarPrice } from './far-prices.ts';
import type { MatchedRecipient } from './matched.ts';
import type { ReadReport } from './reading.ts';

/**
 * Keeps what delivery reports say, in place of what an earlier reading of the same ones found. Their states hold as long as
 * each is the only final report of its recipient; what several make of each other is decided after that.
 *
 * @param recipients by report
 * @param farPrices by report
 */
export async function keepDeliveries(
  client: pg.ClientBase,
  deliveries: readonly ReadReport<'delivery'>[],
  recipients: ReadonlyMap<string, MatchedRecipient>,
  farPrices: ReadonlyMap<string, FarPrice>,
): Promise<void> {
  if (deliveries.length === 0) return;
  const kept = deliveries.map((reading) => {
    const recipient = recipients.get(reading.report);
    return { reading, recipient, state: stateOf(reading, recipient) };
  });
  await client.query({
    name: 'keep-deliveries',
    text: `
    INSERT INTO unusual_reports (report_id, account, received_at, state, message_id, address, status, result, outcome, sent_at,
                         units, price, run_id, request, position, job_number, detail)
    SELECT *
    FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
                $8::text[], $9::text[], $10::timestamptz[], $11::numeric[], $12::numeric[], $13::text[],
                $14::integer[], $15::integer[], $16::text[], $17::text[])
    ON CONFLICT (report_id) DO UPDATE
    SET state = excluded.state, detail = excluded.detail, message_id = excluded.message_id, address = excluded.address,
        status = excluded.status, result = excluded.result, outcome = excluded.outcome, sent_at = excluded.sent_at,
        units = excluded.units, price = excluded.price, text = NULL, run_id = excluded.run_id,
        request = excluded.request, position = excluded.position, job_number = excluded.job_number
    `,
    values: [
      kept.map(({ reading }) => reading.report),
      kept.map(({ reading }) => reading.account),
      kept.map(({ reading }) => reading.receivedAt),
      kept.map(({ state }) => state),
      kept.map(({ reading }) => reading.messageId),
      kept.map(({ reading }) => reading.address),
      kept.map(({ reading }) => reading.status),
      kept.map(({ reading }) => reading.result),
      kept.map(({ reading }) => reading.outcome),
      kept.map(({ reading }) => reading.sentAt),
      kept.map(({ reading }) => reading.units),
      kept.map(({ reading }) => reading.price),
      kept.map(({ recipient }) => recipient?.run ?? null),
      kept.map(({ recipient }) => recipient?.request ?? null),
      kept.map(({ recipient }) => recipient?.position ?? null),
      kept.map(({ reading }) => reading.jobNumber),
      kept.map(({ reading }) => reading.unread ?? farWords(farPrices.get(reading.report))),
    ],
  });
}

function farWords(far: FarPrice | undefined): string | null {
  return far === undefined
    ? null
    : `its Price ${far.price} is far from the rate card, which says ${far.expected}`;
}

function stateOf({ outcome }: ReadReport<'delivery'>, recipient: MatchedRecipient | undefined): ReportState {
  if (!recipient) return 'unmatched';
  return outcome === 'pending' ? 'unchanged' : 'applied';
}
