import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { foldWholeRun } from '../../../src/ledger/counts/fold.ts';
import { findWrongCounts } from '../../../src/ledger/counts/recount.ts';
import { requeueDeliveryReports } from '../../../src/ledger/delivery-reports/queue.ts';
import type { Delivery } from '../../../src/ledger/delivery-reports/report-content.ts';
import { eraseRun } from '../../../src/ledger/purge/erase-run.ts';
import { divideRequests } from '../../../src/ledger/requests/divide.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { type CountedTo, countNewlySent, readReported } from '../../../src/ledger/watch/guard-counts.ts';
import { acceptAll } from '../../support/accept-all.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { expectCountsKept } from '../../support/expect-counts.ts';
import { foldAll } from '../../support/fold-outcomes.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { aDelivery, applyReadings, receiveReadings } from '../../support/readings.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
beforeEach(() => emptyLedger(opened.ledger.pool));

const query = async (sql: string, values: unknown[] = []) =>
  (await opened.ledger.pool.query(sql, values)).rows;

/** 60 numbers that begin with +61412, 50 with +61413 and 10 with +61414, in turn. */
const addresses = Array.from({ length: 120 }, (_, index) => {
  const place = index >= 110 ? '+61414' : index % 2 === 0 || index >= 100 ? '+61412' : '+61413';
  return `${place}${String(index).padStart(6, '0')}`;
});

type Named = { readonly messageId: string; readonly address: string };

async function planWatched(changes: Parameters<typeof aRun>[0] = {}): Promise<[string, readonly Named[]]> {
  const contacts = addresses.map((address, index) =>
    aContact(index + 2, { address, envelope: anEnvelope({ Message: index < 60 ? 'Hello' : 'Hi' }) }),
  );
  const run = await planContacts(
    opened.ledger,
    aRun({ isWatched: true, chunkSize: 7, ...changes }),
    contacts,
  );
  await acceptAll(opened.ledger.pool, run);
  const named = await query(
    'SELECT message_id AS "messageId", address FROM recipient_states WHERE run_id = $1 ORDER BY request, position',
    [run],
  );
  return [run, named];
}

async function report(run: string, ...deliveries: readonly Partial<Delivery>[]): Promise<void> {
  await receiveReadings(opened.ledger.pool, deliveries.map(aDelivery));
  while ((await applyReadings(opened.ledger.pool)) > 0);
  await expectCountsKept(opened.ledger.pool, run);
}

const inRun = <Result>(work: Parameters<typeof inTransaction<Result>>[1]) =>
  inTransaction(opened.ledger.pool, work);

const reportedOf = async (run: string) =>
  (await inRun((client) => readReported(client, run))).at.toSorted((one, other) =>
    one.destination < other.destination ? -1 : 1,
  );

const at = (destination: string, delivered: number, undelivered: number) => ({
  destination,
  isCanary: false,
  delivered,
  undelivered,
});

test('the largest destinations of a watched run are counted by name, and the others together', async () => {
  const [run, named] = await planWatched();
  expect(await query('SELECT destinations FROM run_watches')).toEqual([
    { destinations: ['+61412', '+61413'] },
  ]);
  await report(
    run,
    ...named.map((each, index) => ({
      ...each,
      outcome: index % 10 === 0 ? ('undelivered' as const) : ('delivered' as const),
    })),
  );
  const reported = await reportedOf(run);
  expect(reported.map(({ destination }) => destination)).toEqual(['', '+61412', '+61413']);
  expect(reported.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(108);
  expect(reported.map(({ delivered, undelivered }) => delivered + undelivered)).toEqual([10, 60, 50]);
});

test('the counts equal the outcomes after each change, however reports come, are read again, folded or purged', async () => {
  const { pool } = opened.ledger;
  const [run, named] = await planWatched();
  const [one, two, three, four] = named;
  await report(run, { ...one }, { ...two, outcome: 'undelivered' });
  await report(run, { ...one }, { ...two, outcome: 'undelivered' }, { ...three, outcome: 'pending' });
  await report(run, { ...three, outcome: 'undelivered' }, { ...three }, { ...four, price: '0.08' });
  const before = await reportedOf(run);
  expect(before).toEqual([at('+61412', 1, 1), at('+61413', 1, 1)]);

  // Outcomes are deleted, changed, and decided again.
  const decide = (outcome: string) =>
    query('UPDATE recipient_outcomes SET outcome = $2 WHERE run_id = $1 AND request = 1', [run, outcome]);
  await decide('undelivered');
  await expectCountsKept(pool, run);
  await decide('delivered');
  await expectCountsKept(pool, run);
  await query('DELETE FROM recipient_outcomes WHERE run_id = $1 AND request = 1', [run]);
  await expectCountsKept(pool, run);
  expect(await reportedOf(run)).toEqual([at('+61412', 0, 0), at('+61413', 0, 0)]);
  await requeueDeliveryReports(pool, { all: true }, new Date());
  while ((await applyReadings(pool)) > 0);
  await expectCountsKept(pool, run);

  const counted = await reportedOf(run);
  await foldAll(pool);
  expect(await reportedOf(run)).toEqual(counted);
  await expectCountsKept(pool, run);
  await report(run, { ...one, outcome: 'undelivered', price: '0.5' });
  const late = await reportedOf(run);
  await inRun((client) => foldWholeRun(client, run));
  expect(await reportedOf(run)).toEqual(late);
  expect(await query('SELECT FROM watched_counts WHERE run_id = $1 AND NOT folded', [run])).toEqual([]);

  await query(`UPDATE runs SET purging = true, purged_at = now(), state = 'completed' WHERE run_id = $1`, [
    run,
  ]);
  await eraseRun(pool, run);
  expect(await reportedOf(run)).toEqual(late);
  await report(run, { ...named[4], outcome: 'undelivered' });
  expect(await reportedOf(run)).toEqual(late);
});

test('a count that is wrong is found', async () => {
  const [run, [one]] = await planWatched();
  await report(run, { ...one });
  await query(`UPDATE watched_counts SET destination = '+61413' WHERE run_id = $1`, [run]);
  expect(await findWrongCounts(opened.ledger.pool, run)).toEqual([
    { counted: 'watched delivered +61412', kept: [0, 0], found: [0, 1] },
    { counted: 'watched delivered +61413', kept: [0, 1], found: [0, 0] },
  ]);
});

test('nothing is counted of a run that is not watched', async () => {
  const [run, named] = await planWatched({ isWatched: false });
  await report(run, ...named);
  expect(await query('SELECT FROM watched_counts WHERE run_id = $1', [run])).toEqual([]);
});

test('recipients of the canary are counted apart', async () => {
  const [run, named] = await planWatched();
  await query('UPDATE slices SET is_canary = true WHERE run_id = $1', [run]);
  await report(run, { ...named[0] });
  expect(await reportedOf(run)).toEqual([{ ...at('+61412', 1, 0), isCanary: true }]);
});

test('each claimed recipient is counted once at its destination', async () => {
  const [run] = await planWatched();
  await query(`UPDATE slices SET claimed_to = 3 WHERE run_id = $1 AND phase = 'sending'`, [run]);
  const first = await inRun((client) => countNewlySent(client, run, []));
  expect(first).toEqual({
    sent: expect.arrayContaining([
      { destination: '+61412', isCanary: false, sent: 11 },
      { destination: '+61413', isCanary: false, sent: 10 },
    ]),
    countedTo: [{ slice: 1, request: 3 }],
  });
  await query(`UPDATE slices SET claimed_to = last_request WHERE run_id = $1 AND phase = 'sending'`, [run]);
  const second = await inRun((client) => countNewlySent(client, run, first.countedTo));
  expect(second.sent.reduce((sum, { sent }) => sum + sent, 0)).toBe(99);
  const third = await inRun((client) => countNewlySent(client, run, second.countedTo));
  expect(third).toEqual({ sent: [], countedTo: second.countedTo });
});

test('a recipient whose rejected request is divided counts once, before or after the division', async () => {
  const [run] = await planWatched();
  const look = async (countedTo: readonly CountedTo[]) => {
    const { sent, ...next } = await inRun((client) => countNewlySent(client, run, countedTo));
    return { ...next, recipients: sent.reduce((sum, each) => sum + each.sent, 0) };
  };
  const reject = async (...requests: readonly number[]) => {
    await createRequestRows(opened.ledger.pool, run);
    await query(
      `UPDATE requests SET state = 'rejected', reason = '"no such number"' WHERE run_id = $1 AND request = ANY ($2)`,
      [run, requests],
    );
    return inRun((client) => divideRequests(client, { run, requests }));
  };
  const divided = await reject(2);
  const first = await look([]);
  expect(first.recipients).toBe(addresses.length);
  await reject(3, divided?.first ?? 0);
  expect(await look(first.countedTo)).toEqual({ ...first, recipients: 0 });
});

test('a price that is far from the rate card counts once for its recipient, however often it is reported', async () => {
  const rates = {
    currency: 'AUD',
    tariffs: [[{ price: '0.08', tax: null, from: null, until: null }]],
  };
  const [run, [one, two, three]] = await planWatched({ rates });
  const others = async () => (await inRun((client) => readReported(client, run))).otherPrices;
  await report(run, { ...one, price: '8', units: '1' }, { ...two, price: '0.08', units: '1' });
  expect(await others()).toBe(1);
  await report(run, { ...one, price: '8', units: '1' }, { ...three, price: '9', units: '1' });
  expect(await others()).toBe(2);
  await requeueDeliveryReports(opened.ledger.pool, { all: true }, new Date());
  while ((await applyReadings(opened.ledger.pool)) > 0);
  expect(await others()).toBe(2);
});

test('the domain of one person is no destination, however many rows the person has', async () => {
  const rows = (address: (index: number) => string, from: number) =>
    Array.from({ length: 60 }, (_, index) =>
      aContact(from + index, { address: address(index), key: randomUUID() }),
    );
  const contacts = [
    ...rows(() => 'ann@smith.example', 2),
    ...rows((index) => `p${index}@company.example`, 62),
  ];
  const identity = { key: [], duplicates: 'allow' } as const;
  const run = await planContacts(opened.ledger, aRun({ isWatched: true, identity }), contacts);
  expect(await query('SELECT destinations FROM run_watches WHERE run_id = $1', [run])).toEqual([
    { destinations: ['company.example'] },
  ]);
});

test('domains of e-mail addresses are destinations, however they are written', async () => {
  expect(
    await query(
      `SELECT destination_of(address) AS destination
       FROM unnest(ARRAY['Ann@Example.COM', '"a@b"@example.com', '+61412345678', '0', '']) AS address`,
    ),
  ).toEqual(['example.com', 'example.com', '+61412', '0', ''].map((destination) => ({ destination })));
});
