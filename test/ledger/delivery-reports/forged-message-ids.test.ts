import { beforeEach, expect, test } from 'vitest';
import { resolveDoubts } from '../../../src/engine/runs/resolve-doubts.ts';
import type { Delivery, ReportContent } from '../../../src/ledger/delivery-reports/report-content.ts';
import { findRecipientHistories } from '../../../src/ledger/recipients/history.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { anInvoice, invoiceRow, reconcile } from '../../support/invoices.ts';
import { aDelivery, applyReadings, aReply, receiveReadings } from '../../support/readings.ts';
import { planRunInDoubt } from '../../support/run-in-doubt.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';

/** A MessageID with a wrong check belongs to no request; in capitals a right one still does. */

const opened = testLedger();
let run: string;
let messageId: string;
beforeEach(async () => {
  await emptyLedger(opened.ledger.pool);
  run = await planRunInDoubt(opened.ledger, { requests: 2 });
  const [first] = await query('SELECT message_id FROM request_states WHERE request = 1');
  messageId = String(first.message_id);
});

const query = async (sql: string) => (await opened.ledger.pool.query(sql)).rows;

function forgeries(): string[] {
  const numbers = messageId.slice(0, 16);
  return [
    messageId.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
    `${numbers}${'0'.repeat(20)}`,
    `${numbers}${messageId.slice(16).split('').reverse().join('')}`,
  ];
}

const address = '+61410000000';
const delivery = (messageId: string, changes: Partial<Delivery> = {}) =>
  aDelivery({ messageId, address, units: '1', price: '0.05', ...changes });
const reply = (messageId: string) => aReply({ messageId, address });

async function apply(readings: readonly ReportContent[]): Promise<void> {
  await receiveReadings(opened.ledger.pool, readings);
  expect(await applyReadings(opened.ledger.pool)).toBe(readings.length);
}

const readAllStates = async () => [
  await query('SELECT * FROM request_states ORDER BY request'),
  await query('SELECT reported FROM requests'),
  await query('SELECT * FROM recipient_outcomes'),
  await query('SELECT * FROM suppressions'),
  await query('SELECT * FROM runs'),
];

test('delivery reports and replies with a forged check match nothing, prove nothing and change nothing', async () => {
  const before = await readAllStates();
  const readings = forgeries().flatMap((id) => [
    delivery(id),
    delivery(id, { outcome: 'undelivered', result: 'blacklisted', optedOut: true }),
    reply(id),
  ]);
  await apply(readings);
  expect(await readAllStates()).toEqual(before);
  expect(
    await query('SELECT state, run_id, request, position FROM delivery_reports ORDER BY report_id'),
  ).toEqual(
    readings.map(({ kind }) => ({
      state: kind === 'delivery' ? 'unmatched' : 'inbound',
      run_id: null,
      request: null,
      position: null,
    })),
  );
});

test('a MessageID in capitals matches and proves its request', async () => {
  await apply([delivery(messageId.toUpperCase()), reply(messageId.toUpperCase())]);
  expect(await query('SELECT state FROM request_states ORDER BY request')).toEqual([
    { state: 'accepted' },
    { state: 'in_doubt' },
  ]);
  expect(await query('SELECT run_id, request, position FROM delivery_reports')).toEqual([
    { run_id: run, request: 1, position: 1 },
    { run_id: run, request: 1, position: 1 },
  ]);
});

test('resolving a forged MessageID fails as unknown, and one in capitals resolves its request', async () => {
  const word = { resolution: 'accepted', by: 'ann', reason: 'seen' } as const;
  for (const id of forgeries()) {
    expect(
      await findRecipientHistories(opened.ledger.pool, { kind: 'messageId', value: id }, { limit: 10 }),
    ).toEqual([]);
    const problems = await problemsRejected(() => resolveDoubts(opened.context, { run, named: [id] }, word));
    expect(problems).toEqual([expect.stringContaining('has no such request')]);
  }
  const named = [messageId.toUpperCase()];
  expect(await resolveDoubts(opened.context, { run, named }, word)).toMatchObject([{ request: 1 }]);
  const value = messageId.toUpperCase();
  expect(
    await findRecipientHistories(opened.ledger.pool, { kind: 'messageId', value }, { limit: 10 }),
  ).toMatchObject([
    { run, messageId, address },
    { run, messageId },
  ]);
});

test('an invoice line with a forged MessageID matches no request, and one in capitals is a duplicate of its lower-case line', async () => {
  const line = { run, address };
  const rows = [...forgeries(), messageId.toUpperCase(), messageId].map((id) =>
    invoiceRow({ ...line, messageId: id }),
  );
  const { lines } = await reconcile(opened, anInvoice(rows));
  expect(lines.map(({ kind, detail, request }) => [kind, request, detail?.split(':')[0]])).toEqual([
    ...forgeries().map(() => ['billed but not sent', null, 'no request has this MessageID']),
    ['twice in the invoice', 1, 'already on line 5'],
    ['unknown', 1, 'in doubt here, and the invoice says the service has it'],
  ]);
});
