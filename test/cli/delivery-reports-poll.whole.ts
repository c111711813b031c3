import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { testLedger } from '../support/test-ledger.ts';
import { volleyInProcess as volley } from '../support/volley.ts';
import {
  accountEnvironment,
  accountsYaml,
  contactsCsv,
  makeWorkspace,
  smsCampaignYaml,
} from '../support/workspace.ts';

const opened = testLedger();
let cleanUp = new AsyncDisposableStack();
beforeEach(() => {
  cleanUp = new AsyncDisposableStack();
});
afterEach(async () => {
  await cleanUp.disposeAsync();
  // Blacklisted recipients were suppressed.
  await opened.ledger.pool.query('DELETE FROM suppressions');
});

/** A finished run for which the service sends no delivery reports. */
async function finishedRun(options: SandboxOptions = {}, accounts = withLookUp) {
  const workspace = cleanUp.use(
    await makeWorkspace({
      'accounts.yaml': accounts,
      'campaign.yaml': smsCampaignYaml.replace(/chunkSize: \d+/, 'chunkSize: 100'),
      'contacts.csv': contactsCsv(3),
    }),
  );
  const sandbox = cleanUp.adopt(await startSandbox(options), (it) => it.close());
  const call = (...words: string[]) =>
    volley(words, {
      cwd: workspace.folder,
      env: { ...accountEnvironment(opened, sandbox) },
    });
  const { stdout, stderr } = await call('run', 'campaign.yaml', '--json');
  expect(stderr).not.toContain('error');
  const { run, requests } = JSON.parse(stdout);
  return { run: String(run), requests: Number(requests.total), call };
}

const withLookUp = accountsYaml.replace('timeouts:', 'statusLookUp: on\n    timeouts:');

const kept = (run: string) =>
  opened.ledger.pool
    .query(
      'SELECT method, state, outcome, price FROM delivery_reports JOIN inbox_calls USING (report_id) WHERE run_id = $1 ORDER BY position',
      [run],
    )
    .then(({ rows }) => rows);

test.each(['json', 'xml'])(
  'the service is asked about missing delivery reports, and its answer (%s) is stored like a delivery report',
  async (format) => {
    const accounts = withLookUp.replace('timeouts:', `format: ${format}\n    timeouts:`);
    const { run, requests, call } = await finishedRun({ undeliveredRate: 1 }, accounts);
    const { code, stdout, stderr } = await call('delivery-reports', 'poll', run, '--json');
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ run, asked: requests, reports: 3, unclear: 0 });
    expect(await kept(run)).toMatchObject(
      Array.from({ length: 3 }, () => ({ method: 'LOOK-UP', state: 'applied', outcome: 'undelivered' })),
    );
    const { recipients } = JSON.parse((await call('status', run, '--json')).stdout);
    expect(recipients).toMatchObject({ total: 3, undelivered: 3, accepted: 0 });
    expect((await call('delivery-reports', 'missing', run)).stdout).toBe('No delivery report is missing.\n');
  },
);

test('a request is not looked up again within ten minutes, or when no delivery report is missing', async () => {
  const { run, call } = await finishedRun({ deliveryDelay: 3_600_000 });
  expect(JSON.parse((await call('delivery-reports', 'poll', run, '--json')).stdout)).toMatchObject({
    reports: 0,
  });
  expect(await kept(run)).toEqual([]);
  expect((await call('delivery-reports', 'poll', run)).stdout).toContain('No delivery report is missing');
});

test('an account without a status look-up is refused with advice', async () => {
  const { run, call } = await finishedRun({}, accountsYaml);
  const { code, stderr } = await call('delivery-reports', 'poll', run);
  expect(code).toBe(2);
  expect(stderr).toContain('statusLookUp: on');
});
