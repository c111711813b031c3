import { Big } from 'big.js';
import type pg from 'pg';
import type { Channel } from '../../src/domain/message.ts';
import type { RunRates } from '../../src/domain/rate-card.ts';
import type { RequestState } from '../../src/domain/runs.ts';
import type { BillingDimension } from '../../src/ledger/billing/report.ts';
import type { ReportedDelivery } from './billing-reports.ts';

type Recipient = {
  readonly values: Readonly<Record<BillingDimension, string | null>>;
  readonly currency: string | null;
  readonly figures: Figures;
};

export type Figures = {
  requests: number;
  recipients: number;
  accepted: number;
  failed: number;
  unknown: number;
  delivered: number;
  undelivered: number;
  reportedUnsent: number;
  notYetReported: number;
  unrated: number;
  smsParts: Big;
  faxPages: Big;
  voiceSeconds: Big;
  emails: Big;
  expectedSmsParts: Big;
  price: Big;
  estimated: Big;
  estimatedTax: Big;
};

type DbRequest = {
  readonly run_id: string;
  readonly campaign: string;
  readonly account: string;
  readonly channel: Channel;
  readonly state: RequestState;
  readonly attempts: number;
  /** With those of the requests that it was divided from. */
  readonly message_ids: readonly string[];
  readonly sub_account: string | null;
  readonly department: string | null;
  readonly charge_code: string | null;
  readonly addresses: readonly string[];
  readonly parts: readonly (number | null)[];
  /** Indexes of tariffs; null: the first. */
  readonly tariffs: readonly (number | null)[];
  readonly rates: RunRates | null;
  /** Of the last attempt; without one, of the last change, or of planning. */
  readonly sent: Date;
  readonly suppressed_positions: readonly number[];
};

const unitsOf = {
  sms: 'smsParts',
  fax: 'faxPages',
  voice: 'voiceSeconds',
  tts: 'voiceSeconds',
  email: null,
} as const;

function zeroFigures(): Figures {
  const counts = {
    requests: 0,
    recipients: 0,
    accepted: 0,
    failed: 0,
    unknown: 0,
    delivered: 0,
    undelivered: 0,
    reportedUnsent: 0,
    notYetReported: 0,
  };
  const none = new Big(0);
  return {
    ...counts,
    unrated: 0,
    smsParts: none,
    faxPages: none,
    voiceSeconds: none,
    emails: none,
    expectedSmsParts: none,
    price: none,
    estimated: none,
    estimatedTax: none,
  };
}

/** Counts again, per recipient, from the attempts and the raw inbox. */
export async function recount(pool: pg.Pool, timeZone: string): Promise<Recipient[]> {
  const { rows: requests } = await pool.query<DbRequest>(`
    SELECT run_id, campaign, account, channel, q.state, q.attempts, sub_account, department, charge_code, r.*,
           rates,
           coalesce((SELECT max(started_at) FROM all_attempts a WHERE a.run_id = q.run_id AND a.request = q.request),
                    q.updated_at, runs.created_at) AS sent,
           ARRAY(SELECT position FROM recipient_outcomes o
                 WHERE o.run_id = q.run_id AND o.request = q.request AND outcome = 'cancelled') AS suppressed_positions,
           ARRAY(
             WITH RECURSIVE named AS (
               SELECT q.request
               UNION ALL
               SELECT part.divided_from
               FROM named
               JOIN requests part ON part.run_id = q.run_id AND part.request = named.request
               WHERE part.divided_from IS NOT NULL
             )
             SELECT message_id(runs.run_number, runs.message_key, request) FROM named
           ) AS message_ids
    FROM request_states q
    CROSS JOIN LATERAL (
      SELECT coalesce(array_agg(address ORDER BY position), '{}') AS addresses,
             coalesce(array_agg(parts ORDER BY position), '{}') AS parts,
             coalesce(array_agg(tariff ORDER BY position), '{}') AS tariffs
      FROM recipients_between(q.run_id, q.request, q.request)
    ) r
    JOIN runs USING (run_id)
    JOIN envelopes USING (run_id, envelope)
  `);
  const { rows: calls } = await pool.query<{ body: Buffer }>(
    'SELECT body FROM inbox_calls ORDER BY report_id',
  );
  const reports = calls.map(({ body }): ReportedDelivery => JSON.parse(body.toString()));
  return requests.flatMap((request) => recipientsOf(request, reports, timeZone));
}

function recipientsOf(
  request: DbRequest,
  reports: readonly ReportedDelivery[],
  timeZone: string,
): Recipient[] {
  const { state, channel, sent, rates } = request;
  const [day, month] = [10, 7].map((length) => localDate(sent, timeZone).slice(0, length));
  const isSent = state !== 'planned' && state !== 'cancelled';
  // A divided request can have no recipients left.
  const addresses = request.addresses.length === 0 ? [undefined] : request.addresses;
  const counted = addresses.map((address, index): Recipient => {
    const figures = zeroFigures();
    const period = rates?.tariffs[request.tariffs[index] ?? 0]?.find(
      ({ from, until }) =>
        (from === null || sent >= new Date(from)) && (until === null || sent < new Date(until)),
    );
    if (index === 0 && isSent) figures.requests = 1;
    if (address !== undefined && !request.suppressed_positions.includes(index + 1)) {
      if (isSent) figures.recipients = 1;
      const isAccepted = state === 'accepted';
      if (isAccepted) figures.accepted = 1;
      else if (state === 'rejected' || state === 'failed') figures.failed = 1;
      else if (isSent) figures.unknown = 1;
      // A report that names a divided request counts, also while its part is not sent: the service charges for it.
      const outcome = outcomeOf(reports, request.message_ids, address);
      if (outcome && !isSent && request.attempts === 0) figures.reportedUnsent = 1;
      else if (outcome?.outcome === 'delivered') figures.delivered = 1;
      else if (outcome?.outcome === 'undelivered') figures.undelivered = 1;
      figures.notYetReported = figures.accepted - figures.delivered - figures.undelivered;
      figures.price = new Big(outcome?.price ?? 0);
      const reported = new Big(outcome?.units ?? 0);
      const unit = unitsOf[channel];
      if (unit) figures[unit] = reported;
      const expected = new Big(channel === 'email' ? 1 : (request.parts[index] ?? 0));
      if (isAccepted && channel === 'email') figures.emails = new Big(1);
      if (isAccepted && channel === 'sms') figures.expectedSmsParts = expected;
      const billed = channel === 'sms' || channel === 'email' ? expected.times(figures.accepted) : reported;
      figures.estimated = billed.times(period?.price ?? 0);
      figures.estimatedTax = figures.estimated.times(period?.tax ?? 0);
      if (isAccepted && !period) figures.unrated = 1;
    }
    const { sub_account, department, charge_code, campaign, account, run_id: run } = request;
    const values = {
      SubAccount: sub_account,
      Department: department,
      ChargeCode: charge_code,
      campaign,
      account,
      channel,
      run,
      day: day ?? null,
      month: month ?? null,
    };
    return { values, currency: rates?.currency ?? null, figures };
  });
  return counted.filter(
    ({ figures }) => isSent || figures.reportedUnsent + figures.delivered + figures.undelivered > 0,
  );
}

/** The first final outcome stays; an equal one adds missing values. */
function outcomeOf(
  reports: readonly ReportedDelivery[],
  messageIds: readonly string[],
  address: string,
): ReportedDelivery | undefined {
  const final = reports.filter(
    (report) =>
      messageIds.includes(report.messageId) && report.address === address && report.outcome !== 'pending',
  );
  const [first] = final;
  const equal = final.filter(({ outcome }) => outcome === first?.outcome);
  return (
    first && {
      ...first,
      units: equal.find(({ units }) => units !== null)?.units ?? null,
      price: equal.find(({ price }) => price !== null)?.price ?? null,
    }
  );
}

function localDate(time: Date, timeZone: string): string {
  // Swedish dates have the ISO 8601 form.
  return new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short' }).format(time);
}

/** By values and currency. */
export function addUp(
  recipients: readonly Recipient[],
  by: readonly BillingDimension[],
): Map<string, Figures> {
  const lines = new Map<string, Figures>();
  for (const { values, currency, figures } of recipients) {
    const key = JSON.stringify([...by.map((dimension) => values[dimension]), currency]);
    const line = lines.get(key) ?? zeroFigures();
    lines.set(key, add(line, figures));
  }
  return lines;
}

function add(one: Figures, other: Figures): Figures {
  const sum = { ...one };
  for (const key in one) {
    if (isCount(key)) sum[key] += other[key];
    else if (isAmount(key)) sum[key] = one[key].plus(other[key]);
  }
  return sum;
}

type Amount = { [Key in keyof Figures]: Figures[Key] extends Big ? Key : never }[keyof Figures];

function isCount(key: string): key is Exclude<keyof Figures, Amount> {
  return typeof Object.entries(zeroFigures()).find(([name]) => name === key)?.[1] === 'number';
}

function isAmount(key: string): key is Amount {
  return Object.hasOwn(zeroFigures(), key) && !isCount(key);
}
