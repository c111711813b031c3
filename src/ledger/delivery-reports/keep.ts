import type { ReportState } from '../../domain/delivery-reports.ts';
import { batchOf } from '../batch.ts';
import type { Transaction } from '../session.ts';
import type { FarPrice } from './far-prices.ts';
import type { MatchedRecipient } from './matched.ts';
import type { ReadReport } from './reading.ts';

/**
 * Keeps what delivery reports say, in place of what an earlier reading of the same ones found. Their states hold as long as
 * each is the only final report of its recipient; what several make of each other is decided after that.
 */
export async function keepDeliveries(
  client: Transaction,
  deliveries: readonly ReadReport<'delivery'>[],
  recipients: ReadonlyMap<string, MatchedRecipient>,
  farPrices: ReadonlyMap<string, FarPrice>,
): Promise<void> {
  if (deliveries.length === 0) return;
  const kept = deliveries.map((reading): Kept => {
    const recipient = recipients.get(reading.report);
    const detail = reading.unread ?? farWords(farPrices.get(reading.report));
    return { ...reading, recipient, state: stateOf(reading, recipient), detail };
  });
  await client.query({ name: 'keep-deliveries', text: keep, values: said.values(kept) });
}

type Kept = ReadReport<'delivery'> & {
  readonly recipient: MatchedRecipient | undefined;
  readonly state: ReportState;
  readonly detail: string | null;
};

const said = batchOf<Kept>({
  report_id: ['bigint', ({ report }) => report],
  account: ['text', ({ account }) => account],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
  state: ['text', ({ state }) => state],
  message_id: ['text', ({ messageId }) => messageId],
  address: ['text', ({ address }) => address],
  status: ['text', ({ status }) => status],
  result: ['text', ({ result }) => result],
  outcome: ['text', ({ outcome }) => outcome],
  sent_at: ['timestamptz', ({ sentAt }) => sentAt],
  units: ['numeric', ({ units }) => units],
  price: ['numeric', ({ price }) => price],
  run_id: ['text', ({ recipient }) => recipient?.run ?? null],
  request: ['integer', ({ recipient }) => recipient?.request ?? null],
  position: ['integer', ({ recipient }) => recipient?.position ?? null],
  job_number: ['text', ({ jobNumber }) => jobNumber],
  detail: ['text', ({ detail }) => detail],
});

/** SQL: an earlier reading of the same report is replaced as a whole; what this one does not say is NULL. */
export const inPlaceOfEarlier = `
  ON CONFLICT (report_id) DO UPDATE
  SET (state, detail, message_id, job_number, address, status, result, outcome, sent_at, units, price, text,
       run_id, request, position)
    = (excluded.state, excluded.detail, excluded.message_id, excluded.job_number, excluded.address, excluded.status,
       excluded.result, excluded.outcome, excluded.sent_at, excluded.units, excluded.price, excluded.text, excluded.run_id,
       excluded.request, excluded.position)
`;

const keep = `
  INSERT INTO unusual_reports (${said.columns})
  SELECT *
  FROM ${said.table('said')}
  ${inPlaceOfEarlier}
`;

function farWords(far: FarPrice | undefined): string | null {
  return far === undefined
    ? null
    : `its Price ${far.price} is far from the rate card, which says ${far.expected}`;
}

function stateOf({ outcome }: ReadReport<'delivery'>, recipient: MatchedRecipient | undefined): ReportState {
  if (!recipient) return 'unmatched';
  return outcome === 'pending' ? 'unchanged' : 'applied';
}
