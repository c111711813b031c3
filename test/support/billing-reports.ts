import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { applyDeliveryReports } from '../../src/ledger/delivery-reports/apply-batch.ts';
import { receiveDeliveryReports } from '../../src/ledger/delivery-reports/receive.ts';
import type { RawReport, ReportContent } from '../../src/ledger/delivery-reports/report-content.ts';

export type ReportedDelivery = {
  readonly messageId: string;
  readonly address: string;
  readonly outcome: 'delivered' | 'undelivered' | 'pending';
  readonly units: string | null;
  readonly price: string | null;
};

export type DrawnReport = Pick<ReportedDelivery, 'outcome' | 'units' | 'price'> & {
  readonly recipient: number;
};

/** Only of attempted requests; the service knows no others. */
export async function reportRecipients(
  pool: pg.Pool,
  drawn: readonly DrawnReport[],
  now: Date,
  account = 'sandbox',
): Promise<void> {
  const { rows } = await pool.query<{ messageId: string; address: string }>(
    `
    SELECT message_id AS "messageId", address
    FROM request_states q
    CROSS JOIN LATERAL recipients_between(q.run_id, q.request, q.request)
    WHERE attempts > 0 AND state <> 'cancelled'
    ORDER BY q.run_id, q.request, address
    `,
  );
  if (rows.length === 0) return;
  const deliveries = drawn.flatMap(({ recipient, ...others }): ReportedDelivery[] => {
    const recipientOfRow = rows[recipient % rows.length];
    return recipientOfRow ? [{ ...recipientOfRow, ...others }] : [];
  });
  await receiveAndApply(pool, deliveries, now, account);
}

/** The report names the whole request, and proves nothing of the part. */
export async function reportWhole(pool: pg.Pool, run: string, now: Date): Promise<void> {
  const { rows } = await pool.query<{ messageId: string; address: string }>(
    `
    SELECT whole.message_id AS "messageId", part.address
    FROM request_states whole
    CROSS JOIN LATERAL recipients_between(whole.run_id, 2, 2) AS part
    WHERE whole.run_id = $1 AND whole.request = 1
    `,
    [run],
  );
  if (rows.length === 0) return;
  const outcome = { outcome: 'delivered', units: '2', price: '0.1' } as const;
  await receiveAndApply(
    pool,
    rows.map((whom) => ({ ...whom, ...outcome })),
    now,
  );
}

async function receiveAndApply(
  pool: pg.Pool,
  deliveries: readonly ReportedDelivery[],
  now: Date,
  account = 'sandbox',
): Promise<void> {
  const call = {
    account,
    method: 'POST',
    contentType: 'test',
    headers: {},
    receivedAt: now,
  } as const;
  await receiveDeliveryReports(
    pool,
    randomUUID(),
    deliveries.map((delivery) => ({ ...call, body: Buffer.from(JSON.stringify(delivery)) })),
  );
  await applyDeliveryReports(pool, { limit: 3, parse: readReport, now });
  await applyDeliveryReports(pool, { limit: 100, parse: readReport, now });
}

export function readReport({ body }: RawReport): ReportContent {
  const delivery: ReportedDelivery = JSON.parse(body.toString());
  return {
    kind: 'delivery',
    ...delivery,
    status: delivery.outcome,
    result: null,
    sentAt: null,
    jobNumber: null,
    parseProblem: null,
    optedOut: false,
  };
}
