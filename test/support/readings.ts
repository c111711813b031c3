import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { applyDeliveryReports } from '../../src/ledger/delivery-reports/apply-batch.ts';
import { receiveDeliveryReports } from '../../src/ledger/delivery-reports/receive.ts';
import type {
  Delivery,
  RawReport,
  Reply,
  ReportContent,
} from '../../src/ledger/delivery-reports/report-content.ts';

/** Delivery reports whose bodies are what the parser would make of them. */

type Reading<Kind> = Extract<ReportContent, { readonly kind: Kind }>;

export function aDelivery(changes: Partial<Delivery> = {}): Reading<'delivery'> {
  return {
    kind: 'delivery',
    messageId: null,
    jobNumber: null,
    address: '+61400000002',
    outcome: 'delivered',
    status: 'Success',
    result: 'delivered',
    sentAt: null,
    units: null,
    price: null,
    parseProblem: null,
    optedOut: false,
    ...changes,
  };
}

export function aReply(changes: Partial<Reply> = {}): Reading<'inbound'> {
  return {
    kind: 'inbound',
    messageId: null,
    jobNumber: null,
    address: '+61400000002',
    text: 'Thanks',
    subAccount: '',
    optedOut: false,
    ...changes,
  };
}

export const readReading = ({ body }: RawReport): ReportContent => JSON.parse(body.toString());

export function receiveReadings(
  pool: pg.Pool,
  readings: readonly ReportContent[],
  { account = 'sandbox', receivedAt = new Date() } = {},
): Promise<void> {
  const call = { account, receivedAt, method: 'POST', contentType: 'test', headers: {} } as const;
  const bodies = readings.map((reading) => Buffer.from(JSON.stringify(reading)));
  return receiveDeliveryReports(
    pool,
    randomUUID(),
    bodies.map((body) => ({ ...call, body })),
  );
}

/** @returns how many reports were due */
export function applyReadings(
  pool: pg.Pool,
  { now = new Date(), limit = 100, parse = readReading } = {},
): Promise<number> {
  return applyDeliveryReports(pool, { limit, parse, now });
}
