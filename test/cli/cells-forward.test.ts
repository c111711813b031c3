import { beforeEach, expect, test } from 'vitest';
import { applyInbox } from '../../src/engine/delivery-reports/apply-inbox.ts';
import { loadDeliveryReportRules } from '../../src/engine/delivery-reports/receiver-accounts.ts';
import { receiveDeliveryReports } from '../../src/ledger/delivery-reports/receive.ts';
import { markCompleted } from '../../src/ledger/run-states/transitions.ts';
import { inTransaction } from '../../src/ledger/session.ts';
import { addSuppressions } from '../../src/ledger/suppressions/add.ts';
import { removeSuppressions } from '../../src/ledger/suppressions/remove.ts';
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
const receive = (cell: CellName, account: string, ...messageIds: string[]): Promise<void> =>
  receiveDeliveryReports(
    scene.ledgers[cell].ledger.pool,
    crypto.randomUUID(),
    messageIds.map((messageId) => {
      const report = {
        ...{ version: 'v2.02', url: 'https://volley.example', type: 'SMS', units: { SMSParts: 1 } },
        ...{ price: '0.08', status: 'Success', result: 'delivered', sentTimeUtc: new Date().toISOString() },
        ...{ messageId, destination: '+61400000002' },
      } as const;
      const call = { account, receivedAt: new Date(), contentType: 'application/json', headers: {} };
      return { ...call, method: 'POST', body: Buffer.from(encodeDeliveryReport(report, 'json').body) };
    }),
  );

const accounts = ['alfa', 'bravo', 'charlie', 'delta'].map((name) => `  ${name}:\n${sandbox}`);
beforeEach(async () => {
  await scene.workspace.write('cells.yaml', cellsYaml);
  await scene.workspace.write('accounts.yaml', `accounts:\n${accounts.join('')}`);
});

/** @returns MessageIDs of the first two requests */
async function sendToEnd(cell: CellName, run: string, account: string): Promise<[string, string]> {
  const { ledger } = await scene.send(cell, { run, account });
  await inTransaction(ledger.pool, (client) => markCompleted(client, run, new Date()));
  const { rows } = await ledger.pool.query<{ messageId: string }>(
    'SELECT message_id AS "messageId" FROM request_states WHERE run_id = $1 ORDER BY request LIMIT 2',
    [run],
  );
  return [rows[0]?.messageId ?? '', rows[1]?.messageId ?? ''];
}

async function move(account: string, to: CellName): Promise<void> {
  expect(await scene.command(['cells', 'move', account, '--to', to])).toMatchObject({ code: 0 });
}

async function forward() {
  const { code, stdout, stderr } = await scene.command(['cells', 'forward', '--json']);
  const rows = stdout.split('\n').filter((line) => line.startsWith('{'));
  return { code, stderr, rows: rows.map((line) => JSON.parse(line)) };
}

test('a delivery report for an old run that arrives in the new cell is handed to the old one, where it counts once', async () => {
  const [messageId] = await sendToEnd('north', '261101-aaaaa', 'alfa');
  await move('alfa', 'south');

  await receive('south', 'alfa', messageId, 'of-no-run');
  await apply('south');
  const list = ['delivery-reports', 'list', '--json'];
  const named = await scene.command(list, {
    env: { VOLLEY_CELLS: '', DATABASE_URL: scene.ledgers.south.url },
  });
  expect(named.stdout.trim().split('\n')).toHaveLength(2);

  const lost = await scene.command(['cells', 'forward'], { away: ['north'] });
  expect([lost.code, lost.stderr]).toEqual([3, expect.stringContaining('cell north: It is away')]);
  expect(await forward()).toMatchObject({
    code: 0,
    rows: [{ account: 'alfa', from: 'south', to: 'north', reports: 1 }],
  });
  await apply('north');
  expect(await forward()).toMatchObject({ rows: [{ reports: 0 }] });

  // As after a kill between storing and marking.
  await scene.ledgers.south.ledger.pool.query('DELETE FROM forwarded_reports');
  expect(await forward()).toMatchObject({ rows: [{ reports: 1 }] });
  await apply('north');
  const status = await scene.command(['status', '261101-aaaaa', '--json']);
  expect(JSON.parse(status.stdout).recipients).toMatchObject({ total: 10, delivered: 1, accepted: 9 });
});

test('after a second move, and after a move back, a report still finds the cell that sent the message', async () => {
  const [first, second] = await sendToEnd('north', '261102-bbbbb', 'bravo');
  await move('bravo', 'south');
  await move('bravo', 'west');
  await receive('west', 'bravo', first);
  await apply('west');
  const handedOn = { account: 'bravo', from: 'west', to: 'north', reports: 1 };
  expect((await forward()).rows).toContainEqual(expect.objectContaining(handedOn));

  await receive('south', 'bravo', second);
  await apply('south');
  await move('bravo', 'north');
  const handedBack = { account: 'bravo', from: 'south', to: 'north', reports: 1 };
  expect((await forward()).rows).toContainEqual(expect.objectContaining(handedBack));
});

test('a suppression that was being added during the move is taken over, and not again after an operator removed it', async () => {
  await move('delta', 'south');
  const key = { channel: 'sms', address: '+61400000005', account: 'delta', subAccount: '' } as const;
  const createdAt = new Date(Date.now() - 60_000);
  const suppression = { ...key, reason: 'STOP', source: 'reply', createdAt } as const;
  await addSuppressions(scene.ledgers.west.ledger.pool, [suppression]);
  const taken = { account: 'delta', from: 'south', to: 'west', suppressions: 1 };
  expect((await forward()).rows).toContainEqual(expect.objectContaining(taken));

  const { pool } = scene.ledgers.south.ledger;
  expect(await removeSuppressions(pool, [key], new Date())).toHaveLength(1);
  expect((await forward()).rows).toContainEqual(expect.objectContaining({ ...taken, suppressions: 0 }));
  expect((await pool.query(`SELECT FROM suppressions WHERE account = 'delta'`)).rows).toEqual([]);
});

test('an account that the accounts file lacks is named, and the others are forwarded', async () => {
  await move('alfa', 'south');
  await move('delta', 'south');
  await scene.workspace.write('accounts.yaml', `accounts:\n${accounts.slice(1).join('')}`);
  const { code, stderr, rows } = await forward();
  expect([code, stderr]).toEqual([3, expect.stringContaining('has no account "alfa"')]);
  const ofDelta = { account: 'delta', from: 'south', to: 'west' };
  expect(rows).toContainEqual(expect.objectContaining(ofDelta));
  expect(rows.filter(({ account }) => account === 'alfa')).toEqual([]);
});

test('a report whose raw call was purged before it was handed on is not marked as handed on', async () => {
  await move('alfa', 'south');
  const [messageId] = await sendToEnd('north', '261103-aaaaa', 'alfa');
  await receive('south', 'alfa', messageId);
  await apply('south');
  const { pool } = scene.ledgers.south.ledger;
  const asked = `SELECT report_id FROM unusual_delivery_reports WHERE message_id = '${messageId}'`;
  await pool.query(`SELECT erase_calls(ARRAY(${asked}))`);
  const nothing = { account: 'alfa', from: 'south', to: 'north', reports: 0 };
  expect((await forward()).rows).toContainEqual(expect.objectContaining(nothing));
  expect((await pool.query(`SELECT FROM forwarded_reports WHERE report_id IN (${asked})`)).rows).toEqual([]);
});
