import { expect, test } from 'vitest';
import { applyInbox } from '../../src/engine/delivery-reports/apply-inbox.ts';
import { loadDeliveryReportRules } from '../../src/engine/delivery-reports/receiver-accounts.ts';
import { receiveDeliveryReports } from '../../src/ledger/delivery-reports/receive.ts';
import { markCompleted } from '../../src/ledger/run-states/transitions.ts';
import { inTransaction } from '../../src/ledger/session.ts';
import { encodeDeliveryReport } from '../../src/wire/encode-delivery-report.ts';
import { type CellName, cellsYaml, useCells } from '../support/cells-scene.ts';
import { accountsYaml } from '../support/workspace.ts';

const scene = useCells();
const [, sandbox = ''] = accountsYaml.split('  sandbox:\n');

/** What `volley serve` does in a cell. */
async function apply(cell: CellName): Promise<void> {
  const environment = { ...scene.environment, VOLLEY_WEBHOOK_TOKEN: 'a-token-that-is-long-enough-for-it' };
  const rules = await loadDeliveryReportRules({ workingFolder: scene.workspace.folder, environment });
  await applyInbox(scene.ledgers[cell].context, { ...rules, onFailed: () => undefined });
}

/** Reports that the service has delivered. */
const receive = (cell: CellName, ...messageIds: string[]): Promise<void> =>
  receiveDeliveryReports(
    scene.ledgers[cell].ledger.pool,
    crypto.randomUUID(),
    messageIds.map((messageId) => {
      const report = {
        ...{ version: 'v2.02', url: 'https://volley.example', type: 'SMS', units: { SMSParts: 1 } },
        ...{ price: '0.08', status: 'Success', result: 'delivered', sentTimeUtc: new Date().toISOString() },
        ...{ messageId, destination: '+61400000002' },
      } as const;
      const call = { account: 'alfa', receivedAt: new Date(), contentType: 'application/json', headers: {} };
      return { ...call, method: 'POST', body: Buffer.from(encodeDeliveryReport(report, 'json').body) };
    }),
  );

test('a delivery report for an old run that arrives in the new cell is handed to the old one, where it counts once', async () => {
  await scene.workspace.write('cells.yaml', cellsYaml);
  const accounts = ['alfa', 'bravo', 'charlie', 'delta'].map((name) => `  ${name}:\n${sandbox}`);
  await scene.workspace.write('accounts.yaml', `accounts:\n${accounts.join('')}`);
  const { ledger } = await scene.send('north', { run: '261101-aaaaa', account: 'alfa' });
  await inTransaction(ledger.pool, (client) => markCompleted(client, '261101-aaaaa', new Date()));
  const { rows } = await ledger.pool.query<{ messageId: string }>(
    `SELECT message_id AS "messageId" FROM request_states WHERE run_id = '261101-aaaaa' AND request = 1`,
  );
  const messageId = rows[0]?.messageId ?? '';
  const env = { VOLLEY_WEBHOOK_TOKEN: 'a-token-that-is-long-enough-for-it' };
  expect((await scene.command(['cells', 'move', 'alfa', '--to', 'south'])).code).toBe(0);

  await receive('south', messageId, 'of-no-run');
  await apply('south');
  const list = ['delivery-reports', 'list', '--json'];
  const named = await scene.command(list, {
    env: { VOLLEY_CELLS: '', DATABASE_URL: scene.ledgers.south.url },
  });
  expect(named.stdout.trim().split('\n')).toHaveLength(2);

  const forward = ['cells', 'forward', '--json'];
  const lost = await scene.command(forward, { away: ['north'], env });
  expect([lost.code, lost.stderr]).toEqual([3, expect.stringContaining('cell north: It is away')]);
  const first = await scene.command(forward, { env });
  expect([first.code, JSON.parse(first.stdout)]).toMatchObject([
    0,
    { account: 'alfa', from: 'south', to: 'north', reports: 1 },
  ]);
  await apply('north');
  const again = await scene.command(forward, { env });
  expect(JSON.parse(again.stdout)).toMatchObject({ reports: 0 });

  // As after a kill between storing and marking.
  await scene.ledgers.south.ledger.pool.query('DELETE FROM forwarded_reports');
  expect(JSON.parse((await scene.command(forward, { env })).stdout)).toMatchObject({ reports: 1 });
  await apply('north');
  const status = await scene.command(['status', '261101-aaaaa', '--json']);
  expect(JSON.parse(status.stdout).recipients).toMatchObject({ total: 10, delivered: 1, accepted: 9 });
});
