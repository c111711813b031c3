import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { applyInbox } from '../../src/engine/delivery-reports/apply-inbox.ts';
import { receiveDeliveryReports } from '../../src/ledger/delivery-reports/receive.ts';
import { observedMapping } from '../../src/wire/delivery-report-mapping.ts';
import { emptyLedger } from '../support/empty-ledger.ts';
import { aContact, aRun, planContacts } from '../support/ledger.ts';
import { createRequestRows } from '../support/request-rows.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();
beforeEach(async () => {
  await emptyLedger(opened.ledger.pool);
});

const query = async (sql: string) => (await opened.ledger.pool.query(sql)).rows;
const period = (price: string) => ({ price, tax: null, from: null, until: null });

/** The tariffs of the contacts alternate: 0.08 and 0.50 a part. */
async function applied(
  reports: readonly { readonly Price: string; readonly Detail?: string }[],
  credits: 'refused' | 'allowed' = 'refused',
): Promise<{ price: string | null; detail: string | null }[]> {
  const rates = { currency: 'AUD', tariffs: [[period('0.08')], [period('0.50')]] };
  const contacts = reports.map((_, index) => aContact(index + 2));
  const run = await planContacts(opened.ledger, aRun({ rates, chunkSize: 100 }), contacts, {
    partsOf: () => 1,
    tariffOf: (address) => Number(address.at(-1)) % 2,
  });
  const rows = await query(
    `SELECT message_id AS "MessageID", address AS "Destination" FROM recipient_states ORDER BY request, position`,
  );
  await createRequestRows(opened.ledger.pool, run);
  await query(`UPDATE requests SET state = 'accepted'`);
  const call = {
    account: 'sandbox',
    method: 'POST',
    contentType: '',
    headers: {},
    receivedAt: new Date(),
  } as const;
  const bodies = rows.map((name, index) =>
    JSON.stringify({ ...name, Type: 'SMS', Status: 'Success', ...reports[index] }),
  );
  await receiveDeliveryReports(
    opened.ledger.pool,
    randomUUID(),
    bodies.map((body) => ({ ...call, body: Buffer.from(body) })),
  );
  await applyInbox(opened.context, { findMapping: () => ({ ...observedMapping, credits }) });
  return await query('SELECT price::text AS price, detail FROM delivery_reports ORDER BY report_id');
}

test('a price far from the rate card counts, and is listed with the price of the card', async () => {
  const far = (price: string, expected: string) =>
    `its Price ${price} is far from the rate card, which says ${expected}`;
  expect(
    await applied([
      { Price: '0.16', Detail: 'SMSParts:2' },
      { Price: '999.99', Detail: 'SMSParts:1' },
      { Price: '0' },
      { Price: '0.01' },
      { Price: '0.9', Detail: 'SMSParts:1' },
    ]),
  ).toEqual([
    { price: '0.16', detail: null },
    { price: '999.99', detail: far('999.99', '0.5') },
    { price: '0', detail: null },
    { price: '0.01', detail: far('0.01', '0.5') },
    { price: '0.9', detail: far('0.9', '0.08') },
  ]);
  expect(await query('SELECT sum(price)::text AS price FROM recipient_outcomes')).toEqual([
    { price: '1001.06' },
  ]);
});

test('a credit counts only if the account allows credits', async () => {
  const [refused] = await applied([{ Price: '-0.08' }]);
  expect(refused).toEqual({ price: null, detail: expect.stringMatching(/-0.08 is a credit/) });
  await emptyLedger(opened.ledger.pool);
  const [allowed, large] = await applied([{ Price: '-0.08' }, { Price: '-800' }], 'allowed');
  expect(allowed).toEqual({ price: '-0.08', detail: null });
  expect(large).toEqual({ price: '-800', detail: expect.stringMatching(/far from the rate card/) });
});
