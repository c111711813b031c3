import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyInbox } from '../../src/engine/delivery-reports/apply-inbox.ts';
import { createReportStore } from '../../src/engine/delivery-reports/report-store.ts';
import { loadAccount } from '../../src/engine/load-definition.ts';
import { watchSchedules } from '../../src/engine/schedule/watch-schedules.ts';
import { openLedger } from '../../src/ledger/connection.ts';
import { createHashKey } from '../../src/ledger/suppressions/hash.ts';
import { openLogger } from '../../src/platform/logger.ts';
import { encodeDeliveryReport } from '../../src/wire/encode-delivery-report.ts';
import { startTestSandbox, type TestSandbox } from '../sandbox/start-test-sandbox.ts';
import { createBareDatabase, type TestDatabase } from '../support/database.ts';
import { type FormerLedger, formerHashKey, formerLedgerFiles, planner } from '../support/former-ledger.ts';
import { contextOf } from '../support/ledger.ts';
import { runStatement } from '../support/statement.ts';
import { volleyInProcess } from '../support/volley.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

/**
 * A ledger of each release since 0.3.0 is migrated, and work goes on with all that it has. test/fixtures/ledgers/make.ts
 * adds the ledger of a release; none is ever replaced.
 */
const fixtures = new URL('../fixtures/ledgers/', import.meta.url);
const releases = readdirSync(fixtures).filter((name) => !name.endsWith('.ts'));

test('the ledger of 0.3.0 stays among the fixtures', () => {
  expect(releases).toContain('0.3.0');
});

describe.each(releases)('a ledger of %s', (release) => {
  const read = (name: string) => readFileSync(new URL(`${release}/${name}`, fixtures), 'utf8');
  const { runs, bill }: FormerLedger = JSON.parse(read('expected.json'));
  let database: TestDatabase;
  let workspace: Workspace;
  let sandbox: TestSandbox;
  beforeAll(async () => {
    database = await createBareDatabase();
    workspace = await makeWorkspace(formerLedgerFiles);
    sandbox = await startTestSandbox();
    await runStatement(database.url, read('ledger.sql'));
    await expectEnd(0, 'db', 'migrate');
    await expectEnd(0, 'db', 'restored', '--nothing-missing', '--reason', 'a restored dump');
  });
  afterAll(async () => {
    await sandbox[Symbol.asyncDispose]();
    await workspace[Symbol.asyncDispose]();
    await database.drop();
  });

  const surroundings = (user = planner) => ({
    cwd: workspace.folder,
    user,
    env: {
      DATABASE_URL: database.url,
      VOLLEY_HOME: `${workspace.folder}/.volley`,
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      VOLLEY_HASH_KEY: formerHashKey,
      VOLLEY_SANDBOX_URL: sandbox.url,
      VOLLEY_SANDBOX_TOKEN: 'any',
      LOG_LEVEL: 'silent',
    },
  });

  async function expectEnd(code: number, ...words: string[]): Promise<string> {
    const ended = await volleyInProcess(words, surroundings());
    expect(ended, ended.stderr).toMatchObject({ code });
    return ended.stdout;
  }

  async function statusOf(run: string) {
    return JSON.parse(await expectEnd(0, 'status', run, '--json'));
  }

  test('fits after the migration, and doctor agrees about it and about the key of the hashes', async () => {
    expect(await expectEnd(0, 'db', 'status')).toContain('ledger: fits this version');
    const { stdout } = await volleyInProcess(['doctor', '--json'], surroundings());
    const { checks }: { checks: { name: string; state: string }[] } = JSON.parse(stdout);
    const states = Object.fromEntries(checks.map(({ name, state }) => [name, state]));
    expect(states).toMatchObject({ migrations: 'ok', queue: 'ok', ledger: 'ok', 'hash key': 'ok' });
  });

  test('has the bill of its closed month, of a run that was purged', async () => {
    const words = ['billing', 'report', '--from', '2026-10-01', '--to', '2026-10-31', '--json'];
    const { rows, totals } = JSON.parse(await expectEnd(0, ...words));
    const expected: { rows: object[]; totals: object[] } = JSON.parse(JSON.stringify(bill));
    expect({ rows, totals }).toMatchObject({ rows: expected.rows, totals: expected.totals });
    expect(JSON.parse(await expectEnd(0, 'billing', 'list', '--json'))).toMatchObject({ period: '2026-10' });
  });

  test('sends the rest of a paused run, and each request once', async () => {
    await expectEnd(0, 'resume', runs.paused);
    expect(await statusOf(runs.paused)).toMatchObject({ state: 'completed', requests: { accepted: 4 } });
    const sent = (await sandbox.journal()).map(({ messageId }) => messageId);
    expect(sent).toEqual([...new Set(sent)]);
  });

  test('puts the request of a killed process in doubt, and sends the others', async () => {
    await expectEnd(3, 'resume', runs.running);
    expect(await statusOf(runs.running)).toMatchObject({
      state: 'completed',
      requests: { accepted: 3, in_doubt: 1 },
    });
  });

  test('still refuses the approval of the planner, and sends after that of another person', async () => {
    expect((await volleyInProcess(['approve', runs.approval], surroundings())).code).toBe(2);
    expect((await volleyInProcess(['approve', runs.approval], surroundings('bob@office'))).code).toBe(0);
    await expectEnd(0, 'resume', runs.approval);
    expect(await statusOf(runs.approval)).toMatchObject({ state: 'completed', requests: { accepted: 4 } });
  });

  test('resolves doubts, and leaves a cancelled run as it was', async () => {
    await expectEnd(0, 'resolve', runs.doubt, '--accepted', '--reason', 'seen in the portal');
    expect(await statusOf(runs.doubt)).toMatchObject({ requests: { accepted: 4, in_doubt: 0 } });
    expect(await statusOf(runs.cancelled)).toMatchObject({
      state: 'cancelled',
      requests: { accepted: 1, cancelled: 3 },
    });
  });

  test('applies a late delivery report', async () => {
    const [request] = await runStatement(
      database.url,
      `SELECT request_states.message_id, recipients.address FROM request_states JOIN recipient_states recipients USING (run_id, request)
       WHERE run_id = $1 AND request = 1`,
      [runs.unreported],
    );
    const { headers, body } = encodeDeliveryReport(
      {
        version: 'v2.02',
        url: 'https://volley.example',
        type: 'SMS',
        units: { SMSParts: 1 },
        price: '0.08',
        status: 'Success',
        result: 'delivered',
        sentTimeUtc: new Date().toISOString(),
        messageId: String(request?.['message_id']),
        destination: String(request?.['address']),
      },
      'json',
    );
    const ledger = await openLedger(database.connection, 'test database');
    const context = contextOf(ledger);
    await createReportStore(context)({
      account: 'sandbox',
      receivedAt: new Date(),
      method: 'POST',
      contentType: headers['Content-Type'] ?? 'application/json',
      headers: {},
      body: Buffer.from(body),
    });
    await applyInbox(context);
    await ledger.close();
    expect(await statusOf(runs.unreported)).toMatchObject({ recipients: { delivered: 1, accepted: 3 } });
  });

  test('runs its schedule at the next tick, and sends to no suppressed address, also by its hash', async () => {
    const beforeTick = new Date(Date.now() + 24 * 3_600_000).setUTCHours(2, 59, 58, 0);
    const settings = { environment: surroundings().env, workingFolder: workspace.folder };
    const accountNamed = (name: string) => loadAccount(name, settings);
    const source = { folder: 'campaigns', settings, accountNamed };
    const key = createHashKey(Buffer.from(formerHashKey));
    const ledger = await openLedger(database.connection, 'test database', { findHashKey: () => key });
    const begun = Date.now();
    const context = { ...contextOf(ledger), now: () => new Date(beforeTick + Date.now() - begun) };
    const stop = new AbortController();
    const watching = watchSchedules(context, source, {
      every: 500,
      logger: openLogger('silent', 'info'),
      stop: stop.signal,
    });
    const planned = () =>
      runStatement(
        database.url,
        "SELECT run_id AS id FROM runs WHERE campaign = 'nightly' AND state = 'running'",
      );
    await expect.poll(planned, { timeout: 60_000, interval: 200 }).toHaveLength(1);
    stop.abort();
    await watching;
    await ledger.close();
    const nightly = String((await planned())[0]?.['id']);
    await expectEnd(0, 'resume', nightly);
    const addressed = await runStatement(
      database.url,
      'SELECT address FROM recipient_states WHERE run_id = $1 ORDER BY address',
      [nightly],
    );
    expect(addressed.map(({ address }) => address)).toEqual([
      '+61412000000',
      '+61412000002',
      '+61412000004',
      '+61412000005',
    ]);
  });
});
