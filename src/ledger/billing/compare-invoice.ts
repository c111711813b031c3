import type { Channel } from '../../domain/message.ts';
import { comparedServiceAddress } from '../compared-address.ts';
import { copyIn, copyValue } from '../copy.ts';
import { parseMessageId } from '../message-id.ts';
import { attemptOf, everyRequest, requestOf } from '../request-rows.ts';
import type { Transaction } from '../session.ts';

/** `address` is in lower case without a plus sign. */
export type StagedInvoiceLine = {
  readonly line: number;
  readonly messageId: string;
  readonly destination: string;
  readonly address: string;
  readonly date: string | null;
  /** Decimal text. */
  readonly units: string | null;
  /** Decimal text. */
  readonly price: string | null;
};

/** Copies an invoice, with run and request from its MessageIDs, to a temporary table, in constant memory. */
export async function stageInvoice(
  client: Transaction,
  batches: AsyncIterable<readonly StagedInvoiceLine[]>,
): Promise<void> {
  await client.query(`
    CREATE TEMPORARY TABLE invoice_lines (
      line integer NOT NULL, message_id text NOT NULL, run_number integer, request integer, destination text NOT NULL, address text COLLATE "C" NOT NULL,
      date text, units numeric, price numeric
    ) ON COMMIT DROP
  `);
  async function* lines(): AsyncGenerator<string, void, undefined> {
    for await (const batch of batches) yield batch.map(copyLine).join('');
  }
  await copyIn(
    client,
    'invoice_lines (line, message_id, run_number, request, destination, address, date, units, price)',
    lines(),
  );
  await client.query('ANALYZE invoice_lines');
}

function copyLine({ line, messageId, destination, address, date, units, price }: StagedInvoiceLine): string {
  const parsed = parseMessageId(messageId);
  const columns = [
    line,
    copyValue(messageId),
    parsed?.runNumber,
    parsed?.request,
    copyValue(destination),
    copyValue(address),
    date === null ? undefined : copyValue(date),
    units,
    price,
  ];
  return `${columns.map((column) => column ?? '\\N').join('\t')}\n`;
}

const requestsInRange = 4_096;

export type ReconciliationPeriod = {
  /** Local dates or times (`2026-11-01T00:00`); null: unlimited. */
  readonly from: string | null;
  readonly until: string | null;
  readonly timeZone: string;
};

/** The recipients that the invoice covers; null: all. */
export type ReconciliationScope = {
  readonly accounts: readonly string[] | null;
  /** A null element: recipients without a SubAccount. */
  readonly subAccounts: readonly (string | null)[] | null;
  readonly channels: readonly Channel[] | null;
  /** Requests of other accounts are compared as if the ledger did not have them; null: all are known. */
  readonly visibleAccounts: readonly string[] | null;
};

/**
 * Compares the staged invoice with the ledger by MessageID and recipient, into a temporary table. Invoice lines of
 * purged runs are `unknown`, and none of their recipients is missing.
 */
export async function compareInvoice(
  client: Transaction,
  { from, until, timeZone }: ReconciliationPeriod,
  { accounts, subAccounts, channels, visibleAccounts }: ReconciliationScope,
): Promise<void> {
  await client.query("SET LOCAL work_mem = '64MB'; SET LOCAL jit = off");
  await client.query(`
    CREATE TEMPORARY TABLE wanted_requests (
      run_id text, request integer, message_id text, state text, reason jsonb, sub_account text, department text,
      charge_code text, sent_at timestamptz, in_period boolean, in_scope boolean
    ) ON COMMIT DROP
  `);
  await client.query(wantedRequests, [
    from,
    until,
    timeZone,
    accounts,
    channels,
    subAccounts?.filter((name) => name !== null) ?? null,
    subAccounts?.includes(null) ?? false,
    visibleAccounts,
  ]);
  await client.query('ANALYZE wanted_requests');
  await client.query(`
    CREATE TEMPORARY TABLE reconciled (
      kind text, message_id text, recipient text COLLATE "C", run_id text, request integer, sub_account text,
      department text, charge_code text, line integer, date text, invoiced_units numeric, units numeric,
      invoiced_price numeric, price numeric, test boolean, details jsonb,
      difference numeric GENERATED ALWAYS AS (coalesce(invoiced_price, 0) - coalesce(price, 0)) STORED,
      effect text GENERATED ALWAYS AS (
        CASE
          WHEN kind IN ('unknown', 'other period') THEN 'not known'
          WHEN kind IN ('other price', 'not in the invoice') AND price IS NULL THEN 'not known'
          WHEN coalesce(invoiced_price, 0) > coalesce(price, 0) THEN 'charged too much'
          WHEN coalesce(invoiced_price, 0) < coalesce(price, 0) THEN 'charged too little'
          ELSE 'same price'
        END
      ) STORED
    ) ON COMMIT DROP
  `);
  await client.query(comparison, [timeZone]);
}

/**
 * Requests that the invoice names, and requests of the period whose recipients it should contain. As in billing, they
 * were sent when the last attempt began.
 */
const isVisible = '($8::text[] IS NULL OR r.account = ANY ($8))';

const wantedRequests = `
  INSERT INTO wanted_requests
  WITH accepted AS MATERIALIZED (
    SELECT q.*, a.started_at
    FROM runs r
    CROSS JOIN LATERAL requests_between(r.run_id, ${everyRequest}) q
    LEFT JOIN ${attemptOf('r.run_id', 'q.request', 'q.attempts')} a ON true
    WHERE q.state = 'accepted' AND r.purged_at IS NULL AND ${isVisible}
      AND ($2::text IS NULL OR r.created_at < $2::timestamp AT TIME ZONE $3)
      AND ($1::text IS NULL OR r.finished_at IS NULL OR r.finished_at >= $1::timestamp AT TIME ZONE $3)
  ), named AS MATERIALIZED (
    SELECT r.run_id, i.request
    FROM invoice_lines i
    JOIN runs r USING (run_number)
    WHERE lower(i.message_id) = message_id(r.run_number, r.message_key, i.request) AND ${isVisible}
    EXCEPT
    SELECT run_id, request FROM accepted
  ), wanted AS (
    SELECT * FROM accepted
    UNION ALL
    SELECT q.*, a.started_at
    FROM named n
    CROSS JOIN ${requestOf('n.run_id', 'n.request')} q
    LEFT JOIN ${attemptOf('n.run_id', 'n.request', 'q.attempts')} a ON true
  )
  SELECT run_id, request, q.message_id, q.state, q.reason, e.sub_account, e.department, e.charge_code, sent_at,
         ($1::text IS NULL OR sent_at >= $1::timestamp AT TIME ZONE $3)
           AND ($2::text IS NULL OR sent_at < $2::timestamp AT TIME ZONE $3) AS in_period,
         ($4::text[] IS NULL OR r.account = ANY ($4)) AND ($5::text[] IS NULL OR r.channel = ANY ($5))
           AND ($6::text[] IS NULL OR coalesce(e.sub_account = ANY ($6), $7)) AS in_scope
  FROM wanted q
  JOIN runs r USING (run_id)
  JOIN envelopes e USING (run_id, envelope)
  CROSS JOIN LATERAL (SELECT coalesce(q.started_at, q.updated_at, r.created_at) AS sent_at) sent
`;

const comparison = `
  INSERT INTO reconciled
  WITH recipient AS (
    -- Range by range, from the first wanted request to the last.
    SELECT w.run_id, w.request, c.address, ${comparedServiceAddress('c.address')} AS compared, c.outcome,
           c.price, coalesce(c.units, c.parts, CASE r.channel WHEN 'email' THEN 1 END) AS units
    FROM (
      SELECT run_id, min(request) AS first, max(request) AS last
      FROM wanted_requests
      GROUP BY run_id, request / ${requestsInRange}
    ) range
    JOIN runs r ON r.run_id = range.run_id AND r.purged_at IS NULL
    CROSS JOIN LATERAL (
      SELECT * FROM recipient_results_between(range.run_id, range.first, range.last) OFFSET 0
    ) c
    JOIN wanted_requests w ON w.run_id = c.run_id AND w.request = c.request
  ), invoiced AS (
    SELECT i.line, i.message_id, i.destination, i.address, i.date, i.units, i.price,
           min(i.line) OVER same AS first_line, w.run_id, w.request
    FROM invoice_lines i
    LEFT JOIN wanted_requests w ON w.message_id = lower(i.message_id)
    WINDOW same AS (PARTITION BY coalesce(w.message_id, i.message_id), address)
  ), pair AS (
    SELECT i.line, i.first_line, i.message_id, i.destination, i.date, i.units AS invoiced_units,
           i.price AS invoiced_price, coalesce(i.run_id, c.run_id) AS run_id,
           coalesce(i.request, c.request) AS request, c.address, c.outcome, c.units, c.price
    FROM invoiced i
    FULL JOIN recipient c ON c.run_id = i.run_id AND c.request = i.request AND c.compared = i.address
  ), verdict AS (
    SELECT p.*, w.state, w.reason, w.sub_account, w.department, w.charge_code, r.purged_at, coalesce(r.kind = 'test', false) AS test,
           coalesce(p.message_id, w.message_id) AS known_as, w.sent_at, w.in_period, w.in_scope,
           CASE
             WHEN p.line > p.first_line THEN 'twice in the invoice'
             WHEN p.run_id IS NULL THEN 'billed but not sent'
             WHEN r.purged_at IS NOT NULL THEN 'unknown'
             WHEN p.address IS NULL OR p.outcome = 'cancelled' THEN 'billed but not sent'
             WHEN p.line IS NULL THEN 'not in the invoice'
             WHEN w.state IN ('sending', 'in_doubt', 'abandoned') THEN 'unknown'
             WHEN w.state <> 'accepted' THEN 'billed but not sent'
             WHEN NOT w.in_period THEN 'other period'
             WHEN coalesce(p.invoiced_price, 0) <> coalesce(p.price, 0) THEN 'other price'
             WHEN p.invoiced_units <> coalesce(p.units, 0) THEN 'other units'
             ELSE 'agrees'
           END AS kind
    FROM pair p
    LEFT JOIN wanted_requests w ON w.run_id = p.run_id AND w.request = p.request
    LEFT JOIN runs r ON r.run_id = p.run_id
    WHERE p.line IS NOT NULL
       OR (w.state = 'accepted' AND p.outcome IS DISTINCT FROM 'cancelled' AND w.in_period AND w.in_scope)
  )
  SELECT kind, known_as, coalesce(address, destination), run_id, request, sub_account, department, charge_code, line,
         date, invoiced_units,
         CASE WHEN kind IN ('agrees', 'other price', 'other units', 'not in the invoice') THEN units END,
         invoiced_price,
         CASE WHEN kind IN ('agrees', 'other price', 'other units', 'not in the invoice') THEN price END, test,
         jsonb_build_object(
           'firstLine', first_line, 'outcome', outcome, 'sent', sent.at, 'price', price::text,
           'hasUnits', units IS NOT NULL, 'sameUnits', invoiced_units IS NOT DISTINCT FROM coalesce(units, 0),
           'state', state, 'reason', reason, 'purged', purged_at IS NOT NULL, 'hasRecipient', address IS NOT NULL,
           'test', test,
           'divided', state = 'rejected' AND address IS NULL AND EXISTS (
             SELECT FROM request_states h WHERE h.run_id = verdict.run_id AND h.divided_from = verdict.request
           )
         )
  FROM verdict
  CROSS JOIN LATERAL (SELECT to_char(sent_at AT TIME ZONE $1, 'YYYY-MM-DD HH24:MI') AS at) sent
`;
