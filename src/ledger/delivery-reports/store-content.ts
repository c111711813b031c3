import type { AccountShare } from '../../domain/account-sharing.ts';
import type { DeliveryReportState } from '../../domain/delivery-reports.ts';
import { batchOf, toArrayParameter } from '../batch.ts';
import { requestOf } from '../request-rows.ts';
import type { RequestKey } from '../requests/by-message-id.ts';
import type { Transaction } from '../session.ts';
import type { PriceOutlier } from './price-outliers.ts';
import {
  type MatchedRecipient,
  mayConcern,
  type NamedRequests,
  type ParsedReport,
  type RawReport,
  sharedColumns,
} from './report-content.ts';

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
    values: storedColumns.values(stored).map(toArrayParameter),
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
const replaceEarlierReport = `
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
    named: requests.get(message.messageId ?? ''),
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

type UndecidedReport = Pick<RawReport, 'report' | 'account' | 'receivedAt'> & { readonly why: string };

const undecided = batchOf<UndecidedReport>({
  report_id: ['bigint', ({ report }) => report],
  account: ['text', ({ account }) => account],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
  why: ['text', ({ why }) => why],
});

/** Stores that reports cannot be read, or not be applied. */
export async function storeUndecided(
  client: Transaction,
  state: 'unreadable' | 'failed',
  reports: readonly UndecidedReport[],
): Promise<void> {
  if (reports.length === 0) return;
  await client.query({
    name: 'store-undecided',
    text: `
    INSERT INTO unusual_delivery_reports AS k (report_id, account, received_at, state, detail)
    SELECT report_id, account, received_at, $1, why
    FROM ${undecided.table('u', 2)}
    ${replaceEarlierReport}
    `,
    values: [state, ...undecided.values(reports)],
  });
}
