import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { applyInbox, replayDeliveryReports } from '../../src/engine/delivery-reports/apply-inbox.ts';
import { type ReceivedCall, receiveDeliveryReports } from '../../src/ledger/delivery-reports/receive.ts';
import { openLogger } from '../../src/platform/logger.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createOperations } from '../../src/server/operations.ts';
import { startReceiver } from '../../src/server/receiver.ts';
import { anyCharacter } from '../support/any-character.ts';
import { emptyLedger } from '../support/empty-ledger.ts';
import { aContact, aRun, planContacts } from '../support/ledger.ts';
import { receiverOptions, token } from '../support/receiver.ts';
import { createRequestRows } from '../support/request-rows.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();
let messageId: string;
beforeEach(async () => {
  await emptyLedger(opened.ledger.pool);
  const run = await planContacts(opened.ledger, aRun({ account: 'main', chunkSize: 200 }), contacts);
  await createRequestRows(opened.ledger.pool, run);
  await query(`UPDATE requests SET state = 'accepted'`);
  const [request] = await query('SELECT message_id FROM request_states');
  messageId = String(request.message_id);
  expect(run).not.toBe('');
});

const contacts = Array.from({ length: 150 }, (_, index) => aContact(index + 2));
const addressOf = (index: number): string =>
  contacts[index]?.kind === 'contact' ? contacts[index].address : '';

async function query(sql: string) {
  return (await opened.ledger.pool.query(sql)).rows;
}

const reportOf = (index: number, changes: object = {}): object => ({
  Type: 'SMS',
  MessageID: messageId,
  Destination: addressOf(index),
  Status: 'Success',
  Result: 'delivered',
  Price: '0.08',
  Detail: 'SMSParts:1',
  ...changes,
});

function receive(bodies: readonly Uint8Array[], method: ReceivedCall['method'] = 'POST'): Promise<void> {
  const call = { account: 'main', method, contentType: '', headers: {}, receivedAt: new Date() } as const;
  return receiveDeliveryReports(
    opened.ledger.pool,
    randomUUID(),
    bodies.map((body) => ({ ...call, body: Buffer.from(body) })),
  );
}

/** Does not become short by compression. */
const long = Array.from({ length: 500 }, (_, index) =>
  String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)),
).join('');

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

test('delivery reports with times or names that Postgres refuses are unreadable, and the next one is applied', async () => {
  const receiver = await startReceiver(opened.context, receiverOptions(opened));
  const strange = [
    { SentTimeUTC_RFC3339: '0000-01-01T00:00:00Z' },
    { SentTimeUTC_RFC3339: '0001-01-01T00:00:00+13:00' },
    { SentTimeUTC_RFC3339: '9999-12-31T23:59:59-13:00' },
    { Type: 'SMSInbound', Message: 'STOP', Destination: long, SubAccount: long },
  ];
  for (const changes of [...strange, {}]) {
    const url = `${receiver.url}/webhook/main/${token}`;
    const { status } = await fetch(url, { method: 'POST', body: json(reportOf(0, changes)).toString() });
    expect(status).toBe(200);
  }
  await expect
    .poll(async () =>
      (await query('SELECT state FROM delivery_reports ORDER BY report_id')).map(({ state }) => state),
    )
    .toEqual([...strange.map(() => 'unreadable'), 'applied']);
  await receiver.close();
});

function anyCall() {
  const anything = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 60 }),
    fc.constantFrom(
      '\0',
      '\uD800',
      'İ'.repeat(60),
      '\u{10FFFF}'.repeat(80),
      '9'.repeat(400),
      "'); --",
      '\\',
      '{}',
    ),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.constantFrom('0000-01-01T00:00:00Z', '0001-01-01T00:00:00+13:00', '9999-12-31T23:59:59-13:00', long),
    fc.constantFrom(
      'STOP',
      'Destination is blacklisted',
      'Failed',
      'Pending',
      'Infinity',
      'NaN',
      '1e400',
      '-0',
    ),
  );
  const changes = fc.dictionary(
    fc.constantFrom(
      'Type',
      'Destination',
      'Status',
      'Result',
      'Price',
      'Detail',
      'SubAccount',
      'Department',
      'MessageID',
      'JobNumber',
      'SentTimeUTC',
      'SentTimeUTC_RFC3339',
      'Message',
      'ReceivedID',
      '__proto__',
    ),
    fc.oneof(anything, fc.integer(), fc.constant(null), fc.dictionary(anything, anything, { maxKeys: 3 })),
    { maxKeys: 5 },
  );
  const type = fc.constantFrom('SMS', 'Email', 'Voice', 'Fax', 'SMSReply', 'SMSInbound');
  const status = fc.constantFrom('Success', 'Failed', 'Pending');
  const report = fc.record({ index: fc.nat(40), type, status, changes });
  const bytes = fc.uint8Array({ maxLength: 80 });
  return fc.oneof({ weight: 1, arbitrary: bytes }, { weight: 6, arbitrary: report });
}

test('applying the inbox succeeds for any bytes that a caller sends', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyCall(), { minLength: 150, maxLength: 200 }), async (calls) => {
      const bodies = calls.map((one) =>
        one instanceof Uint8Array
          ? one
          : json(reportOf(one.index, { Type: one.type, Status: one.status, ...one.changes })),
      );
      await receive(bodies);
      await receive(bodies.slice(0, 20), 'GET');
      expect(await applyInbox(opened.context)).toBe(bodies.length + 20);
      expect(await query(`SELECT detail FROM delivery_reports WHERE state = 'failed'`)).toEqual([]);
    }),
    { numRuns: 8 },
  );
  // One of these differs from every other delivery report of the first recipient.
  await receive(['Success', 'Failed'].map((Status) => json(reportOf(0, { Status }))));
  await applyInbox(opened.context);
  const kept = await query('SELECT DISTINCT state FROM delivery_reports');
  expect(new Set(kept.map(({ state }) => state))).toEqual(
    new Set(['applied', 'unchanged', 'conflicting', 'unmatched', 'inbound', 'unreadable']),
  );
});

describe('a delivery report that Postgres refuses', () => {
  beforeEach(async () => {
    // For example a later migration with a wrong constraint.
    await query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'no such position: %', NEW.position USING ERRCODE = '22008';
      END
      $$;
      CREATE TRIGGER refuses BEFORE INSERT ON recipient_outcomes FOR EACH ROW
        WHEN (NEW.position IN (8, 100)) EXECUTE FUNCTION refuse();
    `);
    return async () => {
      await query('DROP FUNCTION refuse CASCADE');
    };
  });

  test('a refused delivery report is marked with the code, and the others of its batch are applied', async () => {
    await receive(contacts.map((_, index) => json(reportOf(index))));
    expect(await applyInbox(opened.context)).toBe(150);
    const failed = await query(
      `SELECT state, detail, address FROM delivery_reports WHERE state <> 'applied'`,
    );
    expect(failed).toEqual(
      Array(2).fill({ state: 'failed', detail: 'the ledger refuses it (22008)', address: null }),
    );
    expect(await query('SELECT FROM recipient_outcomes')).toHaveLength(148);
    expect(await query('SELECT FROM inbox_waiting')).toEqual([]);
  });

  test('the log, the metrics and /readyz show a refused delivery report until a replay applies it', async () => {
    const metrics = createMetrics({ includeNode: false });
    const lines: string[] = [];
    const logger = openLogger('info', 'info', { write: (line) => void lines.push(line) });
    const options = { ...receiverOptions(opened), logger, observer: metrics.deliveryReports };
    const operations = createOperations({ ...opened.context, monotonic: counting() }, metrics, () => false);
    await receive([json(reportOf(7)), json(reportOf(8))]);
    const receiver = await startReceiver(opened.context, options);
    await expect.poll(() => query(`SELECT FROM delivery_reports WHERE state = 'failed'`)).toHaveLength(1);
    await receiver.close();
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 50, account: 'main', code: '22008', report: expect.stringMatching(/^\d+$/) },
    ]);
    expect(lines.join()).not.toContain(addressOf(7));
    const { text } = await operations.metrics();
    expect(text).toContain('volley_delivery_reports_failed_total{account="main"} 1');
    expect(text).toContain('volley_inbox_delivery_reports{state="failed"} 1');
    expect(await operations.readiness()).toEqual({
      ready: true,
      problems: [],
      warnings: expect.arrayContaining([
        '1 delivery report could not be applied. See `volley delivery-reports list --state failed`.',
      ]),
    });

    await query('DROP TRIGGER refuses ON recipient_outcomes');
    await replayDeliveryReports(opened.context, { all: false });
    await applyInbox(opened.context);
    expect(await query('SELECT DISTINCT state, detail FROM delivery_reports')).toEqual([
      { state: 'applied', detail: null },
    ]);
    expect(await operations.readiness()).toMatchObject({ ready: true, warnings: [] });
  });

  test('a delivery report that is refused when it is read again loses its earlier decision', async () => {
    await query('ALTER TABLE recipient_outcomes DISABLE TRIGGER refuses');
    await receive([json(reportOf(7))]);
    await applyInbox(opened.context);
    await query('ALTER TABLE recipient_outcomes ENABLE TRIGGER refuses');
    await replayDeliveryReports(opened.context, { all: true });
    await applyInbox(opened.context);
    expect(await query('SELECT state FROM delivery_reports')).toEqual([{ state: 'failed' }]);
    expect(await query('SELECT FROM recipient_outcomes')).toEqual([]);
  });
});

/** A clock that jumps beyond the age of cached answers at each reading. */
function counting(): () => number {
  let time = 0;
  return () => {
    time += 60_000;
    return time;
  };
}
