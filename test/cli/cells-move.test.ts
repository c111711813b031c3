import { chmod, lstat, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { holdLedger } from '../../src/ledger/location/location.ts';
import { addSuppressions } from '../../src/ledger/suppressions/add.ts';
import { startAcceptingService } from '../support/accepting-service.ts';
import { type CellName, cellsYaml, useCells } from '../support/cells-scene.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
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
  expect(map.stdout).toContain('"\\\\alfa" south;\n');
});

test('an account does not move while one of its runs is not over, and its runs can still be planned', async () => {
  await scene.send('south', { run: '261105-going', account: 'charlie' });
  const { code, stderr } = await move('charlie', '--to', 'west');
  expect([code, stderr]).toEqual([
    2,
    'account charlie: It moves between runs, and these of cell south are not over: 261105-going. Wait, or end them with `volley cancel`.\n',
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
  expect([code, stderr]).toEqual([2, expect.stringContaining('A run of it is being planned in cell west.')]);
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
  expect(await markOf('south', 'quiet')).toEqual([]);
});

async function markOf(cell: CellName, account: string): Promise<string[]> {
  const sql = 'SELECT cell FROM moved_accounts WHERE account = $1';
  const { rows } = await scene.ledgers[cell].ledger.pool.query<{ cell: string }>(sql, [account]);
  return rows.map((row) => row.cell);
}

async function withAccount(account: string): Promise<void> {
  await scene.workspace.write('cells.yaml', cellsYaml.replace('[delta]', `[delta, ${account}]`));
  await scene.workspace.write('accounts.yaml', `accounts:\n${accounts.join('')}  ${account}:\n${sandbox}`);
}

test('a killed move is not repeated to another cell, because the first one may send', async () => {
  await withAccount('turned');
  const { pool } = scene.ledgers.west.ledger;
  await pool.query(`INSERT INTO moved_accounts VALUES ('turned', 'south', now())`);
  const { code, stderr } = await move('turned', '--to', 'north');
  expect([code, stderr]).toEqual([
    2,
    'account turned: It is on its way to cell south. Repeat `volley cells move turned --to south` first.\n',
  ]);
  expect(await markOf('west', 'turned')).toEqual(['south']);
});

test('an account does not move while the new cell has a run of it, unless the move has begun before', async () => {
  await withAccount('early');
  await scene.send('north', { run: '261106-early', account: 'early' });
  const { code, stderr } = await move('early', '--to', 'north');
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('these of cell north are not over: 261106-early'),
  ]);
  expect(await markOf('west', 'early')).toEqual([]);
  const { pool } = scene.ledgers.west.ledger;
  await pool.query(`INSERT INTO moved_accounts VALUES ('early', 'north', now())`);
  expect((await move('early', '--to', 'north')).code).toBe(0);
});

test('an account does not move away from a ledger on hold, which may lack runs and suppressions', async () => {
  await withAccount('held');
  const { pool } = scene.ledgers.west.ledger;
  const reason = { kind: 'being_restored', words: 'the disk was lost' } as const;
  await holdLedger(pool, { reason, incomplete: false }, new Date());
  const { code, stderr } = await move('held', '--to', 'north');
  await pool.query('UPDATE ledger_location SET held_at = NULL, held_reason = NULL');
  expect([code, stderr]).toEqual([
    2,
    'cell west: Its ledger is on hold, so no account moves away from it: An operator is handling a restored ledger: the disk was lost.\n',
  ]);
  expect(await markOf('west', 'held')).toEqual([]);
});

test('a move that fails after its first step says that it must be repeated', async () => {
  await withAccount('stuck');
  const { pool } = scene.ledgers.north.ledger;
  await pool.query(
    'ALTER TABLE rate_limits ADD CONSTRAINT refused CHECK (account <> $$stuck$$ OR requests_per_second < 1)',
  );
  await scene.ledgers.west.ledger.pool.query(
    `INSERT INTO rate_limits (account, requests_per_second) VALUES ('stuck', 20)`,
  );
  const { code, stderr } = await move('stuck', '--to', 'north');
  await pool.query('ALTER TABLE rate_limits DROP CONSTRAINT refused');
  expect([code, stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining('No run of stuck starts in cell west any more. Repeat the command.'),
  ]);
  expect(await markOf('west', 'stuck')).toEqual(['north']);
});

test('the cell whose connection was lost during a move is named', async () => {
  await withAccount('cut');
  const { url } = scene.ledgers.west;
  const proxy = await startPostgresProxy(url);
  const cut = proxy.cut({ statement: /INSERT INTO moved_accounts/, executed: 'never' }).then(proxy.stop);
  const lost = await scene.command(['cells', 'move', 'cut', '--to', 'north'], {
    env: { WEST_WRITE_URL: proxy.url },
  });
  await cut;
  expect([lost.code, lost.stderr]).toEqual([3, expect.stringContaining('cell west: It is away')]);

  const again = await startPostgresProxy(url);
  void again.cut({ statement: /INSERT INTO moved_accounts/, executed: 'never' });
  const forAMoment = await scene.command(['cells', 'move', 'cut', '--to', 'north'], {
    env: { WEST_WRITE_URL: again.url },
  });
  await again.stop();
  expect([forAMoment.code, forAMoment.stderr]).toEqual([
    3,
    expect.stringContaining('cells west and north: The connection to one of them was lost ('),
  ]);
});

test('the file keeps its permissions and its symbolic link, and what a killed move left beside it is removed', async () => {
  const { folder } = scene.workspace;
  await scene.workspace.write('real.yaml', cellsYaml);
  await scene.workspace.write('real.yaml.4194999.new', 'cells:');
  await scene.workspace.write('real.yaml.other.new', 'of an operator');
  await chmod(join(folder, 'real.yaml'), 0o640);
  await symlink('real.yaml', join(folder, 'linked.yaml'));
  const words = ['cells', 'move', 'bravo', '--to', 'west'];
  expect(await scene.command(words, { env: { VOLLEY_CELLS: 'linked.yaml' } })).toMatchObject({ code: 0 });
  expect((await lstat(join(folder, 'linked.yaml'))).isSymbolicLink()).toBe(true);
  expect((await lstat(join(folder, 'real.yaml'))).mode & 0o777).toBe(0o640);
  expect(await scene.workspace.read('real.yaml')).toMatch(/delta, bravo/);
  const left = (await readdir(folder)).filter((name) => name.endsWith('.new'));
  expect(left).toEqual(['real.yaml.other.new']);
});
