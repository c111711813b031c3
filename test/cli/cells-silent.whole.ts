import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CellName, useCells } from '../support/cells-scene.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { type Ended, startVolley } from '../support/volley.ts';
import { accountsYaml } from '../support/workspace.ts';

const scene = useCells();

const run = '261101-aaaaa';

/** Takes connections and never answers, like a stopped Postgres. */
let silent: Server;
beforeAll(async () => {
  await scene.send('north', { run, account: 'alfa' });
  await scene.workspace.write('accounts.yaml', accountsYaml.replace('  sandbox:\n', '  bravo:\n'));
  silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterAll(() => {
  silent.close();
});

/** The command in a process of its own: it must end by itself. */
async function withSilent(cells: readonly CellName[], ...words: string[]): Promise<Ended> {
  const { port } = silent.address() as AddressInfo;
  const url = `postgres://volley@127.0.0.1:${port}/silent`;
  const env = Object.fromEntries(
    cells.flatMap((cell) => ['READ', 'WRITE'].map((access) => [`${cell.toUpperCase()}_${access}_URL`, url])),
  );
  return startVolley(words, { cwd: scene.workspace.folder, env: { ...scene.environment, ...env } }).ended;
}

test.concurrent('a command ends without the answer of a silent cell, and names it', async () => {
  const { code, stdout, stderr } = await withSilent(['south'], 'runs');
  expect([code, stdout]).toEqual([3, expect.stringContaining(run)]);
  expect(stderr).toMatch(/^cell south: It is away, and what it knows is missing \(.*timeout.*\)\.$/m);
});

test.concurrent('a silent cell hides no run of another cell', async () => {
  const { code, stdout } = await withSilent(['west'], 'status', run, '--json');
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { run }]);
});

test.concurrent('a command of which all cells are silent ends with 3', async () => {
  const { code, stderr } = await withSilent(['north', 'south', 'west'], 'runs');
  expect([code, stderr.match(/^cell \w+: It is away/gm)]).toMatchObject([3, { length: 3 }]);
});

test.concurrent('a move to a silent cell says that it must be repeated, and ends with 3', async () => {
  const { code, stderr } = await withSilent(['south'], 'cells', 'move', 'bravo', '--to', 'south');
  expect([code, stderr]).toEqual([3, expect.stringMatching(/repeat/i)]);
});

test.concurrent('a command ends when a cell falls silent in the middle of a statement, and names it', async () => {
  const { url, ledger } = scene.ledgers.south;
  const proxy = await startPostgresProxy(url);
  const other = new Client(url);
  await other.connect();
  await other.query('BEGIN; LOCK TABLE suppressions');
  const { ended } = startVolley(['suppress', 'add', '+61400000001', '--channel', 'sms'], {
    cwd: scene.workspace.folder,
    env: { ...scene.environment, SOUTH_WRITE_URL: proxy.url },
  });
  await expect.poll(async () => (await ledger.pool.query(waiting)).rowCount, { timeout: 20_000 }).toBe(1);
  proxy.hang();
  const { code, stdout } = await ended;
  proxy.stop();
  await other.end();
  expect([code, stdout]).toEqual([3, expect.stringMatching(/north .*1 .*south .*terminated/s)]);
});

const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
