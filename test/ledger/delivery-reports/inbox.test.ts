import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { requeueDeliveryReports } from '../../../src/ledger/delivery-reports/queue.ts';
import type {
  Delivery,
  RawReport,
  ReportContent,
} from '../../../src/ledger/delivery-reports/report-content.ts';
import { removeSuppressions } from '../../../src/ledger/suppressions/remove.ts';
import { billingOf } from '../../support/billing.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { aDelivery, applyReadings, aReply, readReading, receiveReadings } from '../../support/readings.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
beforeEach(async () => {
  await emptyLedger(opened.ledger.pool);
});

const noon = new Date('2026-11-21T12:00:00Z');
const minutesLater = (minutes: number): Date => new Date(noon.getTime() + minutes * 60_000);

function query(sql: string, values: readonly unknown[] = []) {
  return opened.ledger.pool.query(sql, [...values]).then(({ rows }) => rows);
}

/** A run with an accepted request to these numbers. */
async function acceptedRun(lines: readonly number[], fields: Record<string, string> = {}) {
  const envelope = anEnvelope({ Message: 'Hello', ...fields });
  const contacts = lines.map((line) => aContact(line, { envelope }));
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 100 }), contacts);
  await createRequestRows(opened.ledger.pool, run);
  await query(`UPDATE requests SET state = 'accepted' WHERE run_id = $1`, [run]);
  const [request] = await query('SELECT message_id FROM request_states WHERE run_id = $1', [run]);
  return { run, messageId: String(request.message_id) };
}

/** Changes a run's key, so that its MessageIDs no longer match; returns the old key. */
async function changeKey(run: string, key: Buffer): Promise<Buffer> {
  const [before] = await query('SELECT message_key FROM runs WHERE run_id = $1', [run]);
  await query('UPDATE runs SET message_key = $2 WHERE run_id = $1', [run, key]);
  return before.message_key;
}

const addressOf = (line: number): string => `+6140000${String(line).padStart(4, '0')}`;

const delivery = (messageId: string, line: number, changes: Partial<Delivery> = {}) =>
  aDelivery({ messageId, address: addressOf(line), ...changes });
const receive = (...readings: readonly ReportContent[]) =>
  receiveReadings(opened.ledger.pool, readings, { receivedAt: noon });
const apply = (parse = readReading, now = noon) => applyReadings(opened.ledger.pool, { parse, now });

test('a round goes on after entries whose calls were all erased while they waited', async () => {
  await receive(aReply());
  await receive(aReply());
  await query('SELECT erase_calls(ARRAY(SELECT min(report_id) FROM inbox_calls))');
  expect(await applyReadings(opened.ledger.pool, { now: noon, limit: 1 })).toBe(1);
});

test('unmatched delivery reports wait in entries for which about a mebibyte has to be read', async () => {
  const large = { kind: 'unreadable', why: 'x'.repeat(700_000) } as const;
  for (let blocks = 0; blocks < 3; blocks++)
    await receive(large, delivery('Unknown1', 2), delivery('Unknown1', 3));
  await apply();
  const entries = await query('SELECT calls, bytes > 700000 AS is_large FROM inbox_waiting ORDER BY entry');
  expect(entries).toEqual(Array(3).fill({ calls: 2, is_large: true }));
  expect(await apply(readReading, minutesLater(2))).toBe(6);
});

const states = async (): Promise<string[]> =>
  (await query('SELECT state FROM delivery_reports ORDER BY report_id')).map(({ state }) => state);
const outcomes = (run: string) =>
  query(
    'SELECT position, outcome, units, price FROM recipient_outcomes WHERE run_id = $1 ORDER BY request, position',
    [run],
  );

test('calls of one batch are in the inbox in order, each due at once', async () => {
  await receive(delivery('a', 1), delivery('b', 2), delivery('c', 3));
  const rows = await query(
    'SELECT body FROM waiting_reports JOIN inbox_calls USING (report_id) ORDER BY report_id',
  );
  expect(rows.map(({ body }) => JSON.parse(body).messageId)).toEqual(['a', 'b', 'c']);
  expect(await apply()).toBe(3);
});

test('an applied delivery report is not due again and stays in the inbox unchanged', async () => {
  const { messageId } = await acceptedRun([2]);
  await receive(delivery(messageId, 2));
  const before = await query('SELECT * FROM inbox_calls');
  await apply();
  expect(await apply()).toBe(0);
  expect(await query('SELECT * FROM inbox_calls')).toEqual(before);
});

test('an applier that fails leaves the whole queue to the next one', async () => {
  await receive(delivery('a', 1));
  await query('ALTER TABLE unusual_delivery_reports RENAME TO reports_away');
  await expect(apply()).rejects.toThrow('"unusual_delivery_reports" does not exist');
  await query('ALTER TABLE reports_away RENAME TO unusual_delivery_reports');
  // Postgres ends the transaction a moment after its connection.
  await expect.poll(() => apply()).toBe(1);
});

describe('a delivery report with an unknown MessageID', () => {
  test('a report with an unknown MessageID is read again after a minute, and applied once it is known', async () => {
    const { run, messageId } = await acceptedRun([2]);
    const key = await changeKey(run, randomBytes(32));
    await receive(delivery(messageId, 2));
    await apply();
    expect(await states()).toEqual(['unmatched']);
    await changeKey(run, key);
    expect(await apply(readReading, minutesLater(0.9))).toBe(0);
    expect(await apply(readReading, minutesLater(1))).toBe(1);
    expect(await states()).toEqual(['applied']);
    expect(await outcomes(run)).toMatchObject([{ outcome: 'delivered' }]);
  });

  test('a report whose MessageID stays unknown leaves the queue after some days', async () => {
    await receive(delivery('never', 2));
    let looks = 0;
    for (let minutes = 0; minutes < 10 * 24 * 60; minutes += 30)
      looks += await apply(readReading, minutesLater(minutes));
    expect(looks).toBe(13);
    expect(await query('SELECT FROM inbox_waiting')).toEqual([]);
    expect(await states()).toEqual(['unmatched']);
  });
});

describe('several delivery reports of one recipient', () => {
  test('a repeated report adds the price and units that the first one lacks', async () => {
    const { run, messageId } = await acceptedRun([2]);
    await receive(delivery(messageId, 2), delivery(messageId, 2, { price: '0.08' }));
    await apply();
    await receive(delivery(messageId, 2, { price: '9', units: '2' }));
    await apply();
    expect(await outcomes(run)).toMatchObject([{ outcome: 'delivered', units: '2', price: '0.08' }]);
    await receive(delivery(messageId, 2, { price: '1', units: '1' }));
    await apply();
    expect(await outcomes(run)).toMatchObject([{ units: '2', price: '0.08' }]);
  });

  test('a report with another final outcome is stored, and adds nothing to the first', async () => {
    const { run, messageId } = await acceptedRun([2]);
    await receive(delivery(messageId, 2));
    await apply();
    await receive(delivery(messageId, 2, { outcome: 'undelivered', price: '5' }));
    await apply();
    expect(await states()).toEqual(['applied', 'conflicting']);
    expect(await outcomes(run)).toMatchObject([{ outcome: 'delivered', price: null }]);
  });

  test('two appliers that process reports of one recipient at once agree on the first', async () => {
    const { run, messageId } = await acceptedRun([2]);
    await receive(
      ...Array.from({ length: 40 }, (_, index) =>
        delivery(messageId, 2, { outcome: index % 2 === 0 ? 'delivered' : 'undelivered' }),
      ),
    );
    await Promise.all(
      Array.from({ length: 8 }, () => applyReadings(opened.ledger.pool, { limit: 5, now: noon })),
    );
    const [{ outcome }] = await outcomes(run);
    const kept = await query('SELECT outcome, state FROM delivery_reports');
    expect(kept.filter(({ state }) => state === 'applied')).toEqual([{ outcome, state: 'applied' }]);
    expect(kept.filter(({ state }) => state === 'unchanged')).toHaveLength(19);
    expect(kept.filter(({ state }) => state === 'conflicting')).toHaveLength(20);
  });

  test('a Pending report changes nothing after a final one, and before it waits for a final one', async () => {
    const { run, messageId } = await acceptedRun([2]);
    await receive(delivery(messageId, 2, { outcome: 'pending' }));
    await apply();
    expect(await outcomes(run)).toEqual([]);
    await receive(delivery(messageId, 2), delivery(messageId, 2, { outcome: 'pending' }));
    await apply();
    expect(await states()).toEqual(['unchanged', 'applied', 'unchanged']);
    expect(await outcomes(run)).toMatchObject([{ outcome: 'delivered' }]);
  });
});

test('a recipient is found among many, whatever the case of its address and its plus sign', async () => {
  const { run, messageId } = await acceptedRun(Array.from({ length: 50 }, (_, index) => index + 2));
  await receive(delivery(messageId, 30, { address: addressOf(30).slice(1) }), delivery(messageId, 7));
  await apply();
  expect(await outcomes(run)).toMatchObject([{ position: 6 }, { position: 29 }]);
});

describe('a replay', () => {
  test('a replay reads unreadable reports again', async () => {
    const { run, messageId } = await acceptedRun([2]);
    await receive(delivery(messageId, 2));
    const why = 'unknown Status "ok"';
    await apply(() => ({ kind: 'unreadable', why }));
    expect(await query('SELECT state, detail FROM delivery_reports')).toEqual([
      { state: 'unreadable', detail: why },
    ]);
    expect(await requeueDeliveryReports(opened.ledger.pool, { all: false }, minutesLater(5))).toBe(1);
    await apply(readReading, minutesLater(5));
    expect(await query('SELECT state, detail FROM delivery_reports')).toEqual([
      { state: 'applied', detail: null },
    ]);
    expect(await outcomes(run)).toMatchObject([{ outcome: 'delivered' }]);
  });

  test('a replay of all reports changes nothing', async () => {
    const { run, messageId } = await acceptedRun([2, 3]);
    await receive(
      delivery(messageId, 2, { price: '0.08' }),
      delivery(messageId, 2),
      delivery(messageId, 3, { outcome: 'undelivered' }),
      delivery(messageId, 3),
    );
    await apply();
    const before = [await outcomes(run), await states()];
    expect(await requeueDeliveryReports(opened.ledger.pool, { all: true }, noon)).toBe(4);
    await apply();
    expect([await outcomes(run), await states()]).toEqual(before);
  });

  test('a replay corrects an outcome if its deciding report now reads differently', async () => {
    const { run, messageId } = await acceptedRun([2]);
    await receive(delivery(messageId, 2, { outcome: 'undelivered', price: '0.08', units: '2' }));
    await apply((report) => delivery(messageId, 2, { price: report.report }));
    await requeueDeliveryReports(opened.ledger.pool, { all: true }, noon);
    await apply();
    expect(await outcomes(run)).toMatchObject([{ outcome: 'undelivered', price: '0.08', units: '2' }]);
  });

  const unreadable: ReportContent = { kind: 'unreadable', why: 'it has no Status' };
  test.each<[string, (first: ReportContent) => ReportContent]>([
    ['says Pending', (first) => (first.kind === 'delivery' ? { ...first, outcome: 'pending' } : first)],
    ['cannot be read', () => unreadable],
    [
      'has an unknown MessageID',
      (first) => (first.kind === 'delivery' ? { ...first, messageId: 'unknown' } : first),
    ],
  ])('a replay revokes the outcome of a report that now %s, and the next report decides', async (_, now) => {
    const { run, messageId } = await acceptedRun([2]);
    await receive(
      delivery(messageId, 2, { price: '0.08' }),
      delivery(messageId, 2, { outcome: 'undelivered', units: '2' }),
    );
    await apply();
    expect(await states()).toEqual(['applied', 'conflicting']);
    const [first] = await query('SELECT min(report_id)::text AS report FROM inbox_calls');
    await query(
      'INSERT INTO inbox_waiting (first_report, last_report, due_at, calls, bytes) VALUES ($1, $1, $2, 1, 1)',
      [first.report, noon],
    );
    const reading = (report: RawReport) =>
      report.report === first.report ? now(readReading(report)) : readReading(report);
    while ((await apply(reading)) > 0);
    expect((await states())[1]).toBe('applied');
    expect(await outcomes(run)).toEqual([{ position: 1, outcome: 'undelivered', units: '2', price: null }]);
    expect((await billingOf(opened.ledger.pool, [run])).total).toMatchObject({
      delivered: 0,
      undelivered: 1,
      smsParts: '2',
      price: '0.00',
    });
  });

  test('a replay can be limited to one account and to reports since a time', async () => {
    await receive(delivery('a', 1));
    await apply();
    const { pool } = opened.ledger;
    expect(await requeueDeliveryReports(pool, { all: true, account: 'other' }, noon)).toBe(0);
    expect(await requeueDeliveryReports(pool, { all: true, since: minutesLater(1) }, noon)).toBe(0);
    expect(await requeueDeliveryReports(pool, { all: true, account: 'sandbox', since: noon }, noon)).toBe(1);
  });
});

describe('opt-outs', () => {
  const suppressions = () =>
    query('SELECT channel, address, sub_account, reason, run_id, source FROM suppressions ORDER BY address');
  const reply = (messageId: string | null, line: number, optedOut = true, address = addressOf(line)) =>
    aReply({ messageId, address, text: ' Stop \n', subAccount: 'South', optedOut });

  test('a reply that opts out suppresses its sender in the channel and SubAccount of the message it answers', async () => {
    const { run, messageId } = await acceptedRun([2, 3], { SubAccount: 'North' });
    await receive(reply(messageId, 2), reply(messageId, 3, false));
    await apply();
    expect(await suppressions()).toEqual([
      {
        channel: 'sms',
        address: addressOf(2),
        sub_account: 'North',
        reason: 'Stop',
        run_id: run,
        source: 'reply',
      },
    ]);
  });

  test('a reply to an unknown message suppresses its sender for the SubAccount that the service names', async () => {
    await receive(reply(null, 2));
    await apply();
    expect(await suppressions()).toMatchObject([
      { channel: 'sms', sub_account: 'South', reason: 'Stop', run_id: null },
    ]);
  });

  test('a reply from a number without a plus sign suppresses the number as recipients write it', async () => {
    await receive(reply(null, 2, true, addressOf(2).slice(1)));
    await apply();
    expect(await suppressions()).toMatchObject([{ address: addressOf(2) }]);
  });

  test('an address that an operator removed stays removed when old reports are read again, until it opts out again', async () => {
    const { messageId } = await acceptedRun([2]);
    await receive(reply(messageId, 2));
    await apply();
    const key = { channel: 'sms', address: addressOf(2), account: 'sandbox', subAccount: '' } as const;
    expect(await removeSuppressions(opened.ledger.pool, [key], minutesLater(1))).toEqual([key]);
    await requeueDeliveryReports(opened.ledger.pool, { all: true }, noon);
    expect(await apply()).toBe(1);
    expect(await suppressions()).toEqual([]);
    await receive(reply(messageId, 2));
    await query('UPDATE inbox_blocks SET received_at = array_fill($1::timestamptz, ARRAY[calls])', [
      minutesLater(2),
    ]);
    await apply();
    expect(await suppressions()).toMatchObject([{ address: addressOf(2), source: 'reply' }]);
  });

  test('a recipient that the service reports as opted out is suppressed with the words of the service', async () => {
    const { messageId } = await acceptedRun([2]);
    const result = 'Destination is blacklisted';
    await receive(delivery(messageId, 2, { outcome: 'undelivered', result, optedOut: true }));
    await apply();
    expect(await suppressions()).toMatchObject([{ source: 'report', address: addressOf(2) }]);
    expect((await suppressions())[0].reason).toContain(result);
  });

  test('a report with an unknown MessageID suppresses its recipient only once the MessageID is known', async () => {
    const { run, messageId } = await acceptedRun([2]);
    const key = await changeKey(run, randomBytes(32));
    await receive(delivery(messageId, 2, { outcome: 'undelivered', optedOut: true }));
    await apply();
    expect(await suppressions()).toEqual([]);
    await changeKey(run, key);
    await apply(readReading, minutesLater(1));
    expect(await suppressions()).toMatchObject([{ address: addressOf(2) }]);
  });

  test('a repeated opt-out leaves the first suppression unchanged', async () => {
    const { messageId } = await acceptedRun([2]);
    await receive(reply(messageId, 2), reply(messageId, 2));
    await apply();
    const before = await suppressions();
    await requeueDeliveryReports(opened.ledger.pool, { all: true }, noon);
    await apply();
    expect(await suppressions()).toEqual(before);
  });
});

test('a reply is stored with the run and recipient that it answers', async () => {
  const { run, messageId } = await acceptedRun([2, 3]);
  await receive(aReply({ messageId, address: addressOf(3) }));
  await apply();
  expect(await query('SELECT state, run_id, request, position, text FROM delivery_reports')).toEqual([
    { state: 'inbound', run_id: run, request: 1, position: 2, text: 'Thanks' },
  ]);
});

test('a reply to a request in doubt proves that the service accepted it', async () => {
  const { run, messageId } = await acceptedRun([2, 3]);
  await query(`UPDATE requests SET state = 'in_doubt' WHERE run_id = $1`, [run]);
  await receive(aReply({ messageId, address: addressOf(3) }));
  await apply();
  expect(await query('SELECT state, reason FROM request_states WHERE run_id = $1', [run])).toEqual([
    { state: 'accepted', reason: { kind: 'reported' } },
  ]);
});

test('a replay of what arrived since a time does not read all older calls', async () => {
  await query(`
    INSERT INTO inbox_blocks (first_report, calls, bytes, first_received_at, last_received_at, accounts, received_at, methods,
                              content_types, headers, bodies)
    SELECT nextval('report_ids'), 1, 300, at, at, '{sandbox}', ARRAY[at], '{POST}', '{application/json}', ARRAY[json '{}'],
           ARRAY[CAST(repeat('x', 300) AS bytea)]
    FROM generate_series(1, 20000) n
    CROSS JOIN LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 minute' AS at) t
    ORDER BY n
  `);
  await query('VACUUM ANALYZE inbox_blocks');
  const client = await opened.ledger.pool.connect();
  const readRows = async (): Promise<number> => {
    await client.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await client.query<{ read: number }>(
      `SELECT CAST(seq_tup_read + coalesce(idx_tup_fetch, 0) AS integer) AS read
       FROM pg_stat_user_tables WHERE relname = 'inbox_blocks_1'`,
    );
    return rows[0]?.read ?? Number.NaN;
  };
  try {
    const before = await readRows();
    const since = new Date(Date.parse('2026-01-01T00:00:00Z') + 19_990 * 60_000);
    expect(await requeueDeliveryReports(client, { since, all: true }, noon)).toBe(11);
    expect((await readRows()) - before).toBeLessThan(5_000);
  } finally {
    client.release();
  }
});
