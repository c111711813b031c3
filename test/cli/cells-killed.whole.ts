import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { type CellName, cellNames, cellsYaml, useCells } from '../support/cells-scene.ts';
import { startVolley } from '../support/volley.ts';
import { accountsYaml } from '../support/workspace.ts';

const scene = useCells();
const [, sandbox = ''] = accountsYaml.split('  sandbox:\n');
beforeAll(async () => {
  const accounts = ['alfa', 'bravo', 'charlie', 'delta'].map((name) => `  ${name}:\n${sandbox}`);
  await scene.workspace.write('accounts.yaml', `accounts:\n${accounts.join('')}`);
});

/** Kills the command, like a power cut, while it waits for a table in one cell. */
async function killWhileItWaits(
  words: readonly string[],
  cell: CellName,
  table: string,
  until: () => Promise<boolean>,
): Promise<void> {
  const { pool } = scene.ledgers[cell].ledger;
  const client = await pool.connect();
  await client.query(`BEGIN; LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
  const started = startVolley(words, { cwd: scene.workspace.folder, env: scene.environment });
  while (!(await until())) await sleep(20);
  started.process.kill('SIGKILL');
  await started.ended;
  await client.query('ROLLBACK');
  client.release();
}

async function has(cell: CellName, sql: string): Promise<boolean> {
  return ((await scene.ledgers[cell].ledger.pool.query(sql)).rowCount ?? 0) > 0;
}

test('a closing that is killed when it has closed two of three cells is named, and completed by the same command', async () => {
  const words = ['billing', 'close', '2026-10', '--time-zone', 'UTC'];
  const isClosed = (cell: CellName) => has(cell, 'SELECT FROM billing_closings');
  await killWhileItWaits(
    words,
    'west',
    'billing_closings',
    async () => (await isClosed('north')) && (await isClosed('south')),
  );
  // Postgres ends the waiting session when it notices that its client has gone.
  while (
    await has(
      'west',
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
  )
    await sleep(20);
  if (!(await isClosed('west'))) {
    const { checks } = JSON.parse((await scene.command(['doctor', '--json'])).stdout);
    expect(checks.at(-1)).toMatchObject({ found: '2026-10 is closed in north, south, and not in west.' });
  }
  const { code, stdout } = await scene.command([...words, '--json']);
  expect(code).toBe(0);
  expect(stdout.match(/"failed":null/g)).toHaveLength(3);
  for (const cell of cellNames) expect(await isClosed(cell)).toBe(true);
});

test('a move that is killed between its two ledgers lets neither send, and is completed by the same command', async () => {
  await scene.command(['suppress', 'add', '+61400000001', '--channel', 'sms', '--account', 'alfa']);
  await scene.ledgers.south.ledger.pool.query('DELETE FROM suppressions');
  const words = ['cells', 'move', 'alfa', '--to', 'south'];
  const isForbidden = `SELECT FROM moved_accounts WHERE account = 'alfa' AND cell = 'south'`;
  await killWhileItWaits(words, 'south', 'suppressions', () => has('north', isForbidden));
  expect(await has('north', isForbidden)).toBe(true);
  expect(await scene.workspace.read('cells.yaml')).toBe(cellsYaml);
  const { code } = await scene.command(words);
  expect(code).toBe(0);
  expect(await has('south', `SELECT FROM suppressions WHERE account = 'alfa'`)).toBe(true);
  expect(await scene.workspace.read('cells.yaml')).toMatch(/charlie, alfa/);
});
