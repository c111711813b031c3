import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { Pool } from 'undici';
import { expect, test } from 'vitest';
import { deliveryReportFormats } from '../../src/domain/delivery-reports.ts';
import { openLedger } from '../../src/ledger/connection.ts';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { encodeDeliveryReport } from '../../src/wire/encode-delivery-report.ts';
import { scaled } from '../support/examples.ts';
import { aContact, aRun, planContacts } from '../support/ledger.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { createRequestRows } from '../support/request-rows.ts';
import { startVolley } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';

test('delivery reports that come shuffled, twice and in four formats while Postgres is killed are each applied once', async () => {
  const recipients = scaled(1_500, 160_000);
  const { reports } = await expectStormApplied(recipients);
  expect(reports).toBeGreaterThan(1.2 * recipients);
});
type Expected = {
  readonly messageId: string;
  readonly address: string;
  readonly outcome: 'delivered' | 'undelivered';
  readonly price: string;
};

const token = 'a-token-of-at-least-22-characters';
const chunkSize = 200;

const accounts = `accounts:
  main: { interface: rest-2.02, baseUrl: "http://127.0.0.1:9", authToken: "\${TOKEN}", webhookToken: "\${TOKEN}" }
`;

/**
 * Reports every recipient of a run in one of four formats, a fifth of them twice and some as Pending too, shuffled.
 * The service repeats a call until it gets a 2xx answer, and Postgres is killed twice. Expects every outcome to
 * equal the service's own, and every acknowledged call to be in the inbox.
 *
 * @param recipients there are somewhat more delivery reports
 */
async function expectStormApplied(recipients: number): Promise<Readonly<Record<string, number>>> {
  await using postgres = await startOwnPostgres();
  const url = await postgres.createDatabase();
  const ledger = await openLedger({ connectionString: url }, 'own Postgres');
  const run = await planContacts(
    ledger,
    aRun({ account: 'main', chunkSize }),
    Array.from({ length: recipients }, (_, index) => aContact(index + 2, { address: addressOf(index) })),
  );
  await createRequestRows(ledger.pool, run);
  // Delivery reports prove requests in doubt.
  await ledger.pool.query(
    `UPDATE requests SET state = CASE request % 3 WHEN 0 THEN 'in_doubt' ELSE 'accepted' END, updated_at = now()`,
  );
  const { rows } = await ledger.pool.query<{ messageId: string; address: string }>(
    `SELECT message_id AS "messageId", address FROM recipient_states ORDER BY request, position`,
  );
  const expected = rows.map(({ messageId, address }, index): Expected => {
    const outcome = seededRandom('outcome', 1, index) < 0.1 ? 'undelivered' : 'delivered';
    return { messageId, address, outcome, price: `0.${String(index % 97).padStart(2, '0')}5` };
  });
  await ledger.close();

  await using workspace = await makeWorkspace({ 'accounts.yaml': accounts });
  const env = { DATABASE_URL: url, VOLLEY_ACCOUNTS: 'accounts.yaml', TOKEN: token };
  const serve = startVolley(['serve', '--no-api', '--port', '0'], { cwd: workspace.folder, env });
  await serve.waitForText('/webhook/main/');
  const base = /(http:\/\/127\.0\.0\.1:\d+)\/webhook/.exec(serve.stderrSoFar())?.[1] ?? '';
  const sent = await sendAll(base, callsOf(expected), postgres);

  const after = await openLedger({ connectionString: url }, 'own Postgres');
  const read = async (sql: string) => (await after.pool.query(sql)).rows;
  while ((await read('SELECT FROM inbox_waiting')).length > 0) await sleep(50);
  serve.process.kill('SIGTERM');
  expect((await serve.ended).code).toBe(0);
  const outcomes = await read(
    `SELECT message_id AS "messageId", address, outcome, price::text AS price FROM recipient_states`,
  );
  const byAddress = (one: { address: string }, other: { address: string }): number =>
    one.address < other.address ? -1 : 1;
  expect(outcomes.toSorted(byAddress)).toEqual(expected.toSorted(byAddress));
  expect(await read(`SELECT DISTINCT state FROM request_states`)).toEqual([{ state: 'accepted' }]);
  const [{ inbox }] = await read('SELECT count(*)::integer AS inbox FROM inbox_calls');
  // Postgres can commit and be killed before it confirms, for longer than the receiver retries. Then stored calls
  // are answered 503, and the repetition stores them twice.
  expect(inbox).toBeGreaterThanOrEqual(sent.answered);
  expect(inbox).toBeLessThanOrEqual(sent.answered + sent.refused);
  expect(await read(`SELECT DISTINCT state FROM delivery_reports ORDER BY state`)).toEqual([
    { state: 'applied' },
    { state: 'unchanged' },
  ]);
  await after.close();
  return { recipients, inbox, ...sent };
}

const addressOf = (index: number): string => `+614${String(index).padStart(8, '0')}`;

type Call = ReturnType<typeof encodeDeliveryReport>;

function callsOf(expected: readonly Expected[]): Call[] {
  const calls = expected.flatMap(({ messageId, address, outcome, price }, index) => {
    const report = {
      version: 'v2.02',
      url: 'https://volley.example',
      type: 'SMS',
      messageId,
      destination: address,
      price,
      units: { SMSParts: 1 },
      sentTimeUtc: '2026-11-21T12:00:00.000Z',
      ...(outcome === 'delivered'
        ? { status: 'Success', result: 'delivered' }
        : { status: 'Failed', result: 'Bad Number' }),
    };
    const format = deliveryReportFormats[index % deliveryReportFormats.length] ?? 'json';
    const otherFormat = deliveryReportFormats[(index + 1) % deliveryReportFormats.length] ?? 'json';
    return [
      encodeDeliveryReport(report, format),
      ...(index % 5 === 0 ? [encodeDeliveryReport(report, otherFormat)] : []),
      ...(index % 11 === 0
        ? [encodeDeliveryReport({ ...report, status: 'Pending', result: '' }, format)]
        : []),
    ];
  });
  return calls
    .map((call, index) => ({ call, order: seededRandom('shuffled', 1, index) }))
    .sort((one, other) => one.order - other.order)
    .map(({ call }) => call);
}

/** Kills Postgres after a third and after two thirds. */
async function sendAll(base: string, calls: readonly Call[], postgres: OwnPostgres) {
  const pool = new Pool(base, { connections: 32, allowH2: false });
  const limit = pLimit(32);
  const figures = { answered: 0, refused: 0, reports: calls.length };
  const send = async ({ method, headers, body }: Call): Promise<void> => {
    const path = `/webhook/main/${token}`;
    for (;;) {
      const answer = await pool.request(
        method === 'GET' ? { method, path: `${path}?${body}` } : { method, path, headers, body },
      );
      await answer.body.dump();
      if (answer.statusCode >= 200 && answer.statusCode < 300) break;
      figures.refused++;
      await sleep(100);
    }
    figures.answered++;
  };
  const killings = [1 / 3, 2 / 3].map(async (share) => {
    while (figures.answered < share * calls.length) await sleep(5);
    await postgres.kill();
    await sleep(1_000);
    await postgres.start();
  });
  await Promise.all([...calls.map((call) => limit(send, call)), ...killings]);
  await pool.close();
  return figures;
}
