import { readdir } from 'node:fs/promises';
import { beforeEach, expect, test } from 'vitest';
import { addSuppressions } from '../../src/ledger/suppressions/add.ts';
import { startAcceptingService } from '../support/accepting-service.ts';
import { cellsYaml, useCells } from '../support/cells-scene.ts';
import { accountsYaml } from '../support/workspace.ts';

const scene = useCells();

const [, sandbox = ''] = accountsYaml.split('  sandbox:\n');
const accounts = ['alfa', 'bravo', 'charlie', 'delta'].map((name) => `  ${name}:\n${sandbox}`);

beforeEach(async () => {
  await scene.workspace.write('cells.yaml', cellsYaml);
  await scene.workspace.write('accounts.yaml', `accounts:\n${accounts.join('')}`);
});

const move = (...words: string[]) => scene.command(['cells', 'move', ...words]);

test('volley cells move moves suppressions, limits and the entry in the file, and keeps its comments', async () => {
  const { north, south } = scene.ledgers;
  const suppression = { channel: 'sms', subAccount: '', reason: 'STOP', source: 'reply' } as const;
  await addSuppressions(north.ledger.pool, [
    { ...suppression, address: '+61400000001', account: 'alfa', createdAt: new Date() },
    { ...suppression, address: '+61400000002', account: 'bravo', createdAt: new Date() },
    { ...suppression, address: '+61400000003', createdAt: new Date() },
  ]);
  await north.ledger.pool.query(`INSERT INTO rate_limits (account, requests_per_second) VALUES ('alfa', 20)`);
  const { code, stdout } = await move('alfa', '--to', 'south');
  expect([code, stdout]).toEqual([0, 'Account alfa is in cell south. 2 suppressions were copied.\n']);
  const file = await scene.workspace.read('cells.yaml');
  expect(file).toContain('# Divided in November.');
  expect(file).toMatch(/accounts: \[ ?bravo ?\] # of north/);
  expect(file).toMatch(/accounts: \[ ?charlie, alfa ?\] # of south/);
  const { rows } = await south.ledger.pool.query<{ address: string; reason: string }>(
    'SELECT address, reason FROM suppressions ORDER BY address',
  );
  expect(rows).toEqual([
    { address: '+61400000001', reason: 'STOP' },
    { address: '+61400000003', reason: 'STOP' },
  ]);
  const limits = await south.ledger.pool.query('SELECT account, requests_per_second FROM rate_limits');
  expect(limits.rows).toEqual([{ account: 'alfa', requests_per_second: 20 }]);
  expect((await readdir(scene.workspace.folder)).filter((name) => name.includes('.new'))).toEqual([]);
  const map = await scene.command(['cells', 'map']);
  expect(map.stdout).toContain('"alfa" south;\n');
});

test('an account does not move while one of its runs is not over, and its runs can still be planned', async () => {
  await scene.send('south', { run: '261105-going', account: 'charlie' });
  const { code, stderr } = await move('charlie', '--to', 'west');
  expect([code, stderr]).toEqual([
    2,
    'account charlie: It moves between runs, and these are not over: 261105-going. Wait, or end them with `volley cancel`.\n',
  ]);
  expect(await scene.workspace.read('cells.yaml')).toBe(cellsYaml);
  const { rows } = await scene.ledgers.south.ledger.pool.query('SELECT FROM moved_accounts');
  expect(rows).toEqual([]);
});

test('an account does not move while a run of it is being planned', async () => {
  const client = await scene.ledgers.west.ledger.pool.connect();
  await client.query('BEGIN');
  await client.query(`SELECT pg_advisory_xact_lock_shared(hashtextextended('volley move delta', 0))`);
  const { code, stderr } = await move('delta', '--to', 'south');
  await client.query('ROLLBACK');
  client.release();
  expect([code, stderr]).toEqual([2, expect.stringContaining('A run of it is being planned.')]);
});

test('after a move no run of the account is planned in the old cell', async () => {
  await scene.workspace.write('contacts.csv', 'mobile\n+61400000009\n');
  await scene.workspace.write(
    'campaign.yaml',
    'campaign: late\naccount: bravo\nchannel: sms\ncontacts: { file: contacts.csv, columns: { Recipient: mobile } }\nmessage: { Message: Hello }\n',
  );
  expect((await move('bravo', '--to', 'west')).code).toBe(0);
  await using service = await startAcceptingService();
  const env = {
    DATABASE_URL: scene.ledgers.north.url,
    VOLLEY_SANDBOX_URL: service.url,
    VOLLEY_SANDBOX_TOKEN: 'x',
    VOLLEY_CELLS: '',
  };
  const { code, stderr } = await scene.command(['run', 'campaign.yaml'], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining('account bravo: It moved to cell west at ')]);
  const { rows } = await scene.ledgers.north.ledger.pool.query(`SELECT FROM runs WHERE campaign = 'late'`);
  expect(rows).toEqual([]);
});

test('a move that ended after its first step is completed by the same command, and can go back', async () => {
  const { west, south } = scene.ledgers;
  await west.ledger.pool.query(`INSERT INTO moved_accounts VALUES ('delta', 'south', now())`);
  expect((await move('delta', '--to', 'south')).code).toBe(0);
  expect((await move('delta', '--to', 'south')).stderr).toBe('account delta: It is in cell south already.\n');
  expect((await move('delta', '--to', 'west')).code).toBe(0);
  const { rows: fence } = await west.ledger.pool.query('SELECT account FROM moved_accounts');
  expect(fence).toEqual([]);
  const { rows } = await south.ledger.pool.query('SELECT account, cell FROM moved_accounts');
  expect(rows).toEqual([{ account: 'delta', cell: 'west' }]);
});

test('a move to a cell that is away changes nothing there, says so, and is completed later', async () => {
  const { code, stderr } = await scene.command(['cells', 'move', 'delta', '--to', 'north'], {
    away: ['north'],
  });
  expect([code, stderr]).toEqual([3, expect.stringContaining('cell north: It is away')]);
  expect(stderr).toContain('Repeat the command when both cells answer');
  expect(await scene.workspace.read('cells.yaml')).toBe(cellsYaml);
  expect((await move('delta', '--to', 'north')).code).toBe(0);
});

test('suppressions that were hashed with a key that the new cell has not proved are not moved', async () => {
  const { pool } = scene.ledgers.south.ledger;
  await pool.query(`INSERT INTO hash_key (proof) VALUES ('\\x01')`);
  await pool.query(
    `INSERT INTO hashed_suppressions (channel, hash, account, source, created_at)
     VALUES ('sms', '\\x02', 'quiet', 'reply', now())`,
  );
  await scene.workspace.write('cells.yaml', cellsYaml.replace('[charlie]', '[charlie, quiet]'));
  await scene.workspace.write('accounts.yaml', `accounts:\n${accounts.join('')}  quiet:\n${sandbox}`);
  const { code, stderr } = await move('quiet', '--to', 'west');
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('cell west has not proved that it has their key'),
  ]);
});

test('volley cells list shows the accounts of each cell, and names one that is away', async () => {
  const { code, stdout } = await scene.command(['cells', 'list', '--json'], { away: ['west'] });
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([code, rows]).toMatchObject([
    3,
    [
      { cell: 'north', accounts: ['alfa', 'bravo'], unfinished: 0, away: null },
      { cell: 'south', accounts: ['charlie'], unfinished: 1, away: null },
      { cell: 'west', accounts: ['delta'], unfinished: null, away: expect.stringContaining('ECONNREFUSED') },
    ],
  ]);
});
