import type { DeliveryReportState } from '../../domain/delivery-reports.ts';
import { batchOf } from '../batch.ts';
import type { Transaction } from '../session.ts';
import type { MatchedRecipient } from './matched-recipient.ts';
import type { PriceOutlier } from './price-outliers.ts';
import type { ParsedReport } from './report-content.ts';

/**
 * Stores the content of delivery reports instead of earlier readings. Assumes each is its recipient's only final
 * report; `decideOutcomes` corrects the states.
 */
export async function storeDeliveries(
  client: Transaction,
  deliveries: readonly ParsedReport<'delivery'>[],
  recipients: ReadonlyMap<string, MatchedRecipient>,
  priceOutliers: ReadonlyMap<string, PriceOutlier>,
): Promise<void> {
  if (deliveries.length === 0) return;
  const stored = deliveries.map((reading): StoredDelivery => {
    const recipient = recipients.get(reading.report);
    const outlier = outlierMessage(priceOutliers.get(reading.report));
    const stored = { ...reading, recipient, state: stateOf(reading, recipient) };
    // An opt-out needs the address; the next purge erases it.
    if (!recipient?.isPurged || reading.optedOut)
      return { ...stored, detail: reading.parseProblem ?? outlier };
    return { ...stored, address: null, status: null, result: null, detail: outlier };
  });
  await client.query({
    name: 'store-deliveries',
    text: storeStatement,
    values: storedColumns.values(stored),
  });
}

type StoredDelivery = Omit<ParsedReport<'delivery'>, 'address' | 'status'> & {
  /** Null: of a purged run. */
  readonly address: string | null;
  readonly status: string | null;
  readonly recipient: MatchedRecipient | undefined;
  readonly state: DeliveryReportState;
  readonly detail: string | null;
};

const storedColumns = batchOf<StoredDelivery>({
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

/** SQL: replaces an earlier reading as a whole; missing values become NULL. */
export const replaceEarlierReport = `
  ON CONFLICT (report_id) DO UPDATE
  SET (state, detail, message_id, job_number, address, status, result, outcome, sent_at, units, price, text,
       run_id, request, position)
    = (excluded.state, excluded.detail, excluded.message_id, excluded.job_number, excluded.address, excluded.status,
       excluded.result, excluded.outcome, excluded.sent_at, excluded.units, excluded.price, excluded.text, excluded.run_id,
       excluded.request, excluded.position)
`;

const storeStatement = `
  INSERT INTO unusual_delivery_reports (${storedColumns.columns})
  SELECT *
  FROM ${storedColumns.table('stored')}
  ${replaceEarlierReport}
`;

function outlierMessage(outlier: PriceOutlier | undefined): string | null {
  return outlier === undefined
    ? null
    : `its Price ${outlier.price} is far from the rate card, which says ${outlier.expected}`;
}

function stateOf(
  { outcome }: ParsedReport<'delivery'>,
  recipient: MatchedRecipient | undefined,
): DeliveryReportState {
  if (!recipient) return 'unmatched';
  return outcome === 'pending' ? 'unchanged' : 'applied';
}
