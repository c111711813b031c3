import { setTimeout as sleep } from 'node:timers/promises';
import { Big } from 'big.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCells } from '../../src/engine/cells/cells-file.ts';
import { openLedger } from '../../src/ledger/connection.ts';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { type AcceptingService, startAcceptingService } from '../support/accepting-service.ts';
import { addUp, recount } from '../support/billing-recount.ts';
import { type CellName, cellNames, cellsYaml } from '../support/cells-scene.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { type Ended, startVolley, volley } from '../support/volley.ts';
import {
  accountsYaml,
  contactsCsv,
  makeWorkspace,
  smsCampaignYaml,
  type Workspace,
} from '../support/workspace.ts';

/** VOLLEY_TORTURE_SEED repeats an earlier torture. */
const seed = process.env['VOLLEY_TORTURE_SEED'] ?? String(Date.now());
const random = (what: string, index: number, below: number): number =>
  Math.floor(seededRandom(seed, what, index) * below);

const accountOf: Readonly<Record<CellName, string>> = { north: 'alfa', south: 'charlie', west: 'delta' };
const contacts = 150;

let servers: Readonly<Record<CellName, OwnPostgres>>;
let urls: Readonly<Record<CellName, string>>;
let service: AcceptingService;
let workspace: Workspace;

beforeAll(async () => {
  const started = await Promise.all([startOwnPostgres(), startOwnPostgres(), startOwnPostgres()]);
  const [north, south, west] = started;
  servers = { north, south, west };
  const [ofNorth, ofSouth, ofWest] = await Promise.all([
    north.createDatabase(),
    south.createDatabase(),
    west.createDatabase(),
  ]);
  urls = { north: ofNorth, south: ofSouth, west: ofWest };
  for (const url of Object.values(urls))
    await (await openLedger({ connectionString: url }, 'a new cell')).close();
  service = await startAcceptingService();
  service.behave({ latency: 5 });
  const [, settings = ''] = accountsYaml.split('  sandbox:\n');
  const names = ['alfa', 'bravo', 'charlie', 'delta'];
  const campaigns = cellNames.map((cell) => [
    `${cell}.yaml`,
    smsCampaignYaml
      .replace('account: sandbox', `account: ${accountOf[cell]}`)
      .replace('campaign: test', `campaign: ${cell}`),
  ]);
  workspace = await makeWorkspace({
    'cells.yaml': cellsYaml,
    'accounts.yaml': `accounts:\n${names.map((name) => `  ${name}:\n${settings}`).join('')}`,
    'contacts.csv': contactsCsv(contacts),
    ...Object.fromEntries(campaigns),
  });
});
afterAll(async () => {
  for (const server of Object.values(servers)) await server[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  await workspace[Symbol.asyncDispose]();
});

const common = () => ({
  VOLLEY_ACCOUNTS: 'accounts.yaml',
  VOLLEY_SANDBOX_URL: service.url,
  VOLLEY_SANDBOX_TOKEN: 'any',
  VOLLEY_WEBHOOK_TOKEN: 'a-token-that-is-long-enough-for-it',
});

function viewEnvironment(): Record<string, string> {
  const ofCells = cellNames.flatMap((cell) =>
    ['READ', 'WRITE'].map((access) => [`${cell.toUpperCase()}_${access}_URL`, urls[cell]]),
  );
  return { ...common(), VOLLEY_CELLS: 'cells.yaml', ...Object.fromEntries(ofCells) };
}

/** A command over all cells. */
const view = (...words: string[]): Promise<Ended> =>
  volley(words, { cwd: workspace.folder, env: viewEnvironment() });

/** A command of one cell, which knows of no other. */
const inCell = (cell: CellName, ...words: string[]): Promise<Ended> =>
  volley(words, {
    cwd: workspace.folder,
    env: { ...common(), DATABASE_URL: urls[cell], VOLLEY_HOME: `${workspace.folder}/${cell}` },
  });

const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

async function expectSumsOfRecount(): Promise<void> {
  const counted = [];
  for (const cell of cellNames) {
    const ledger = await openLedger({ connectionString: urls[cell] }, cell, { access: 'read' });
    counted.push(...(await recount(ledger.pool, 'UTC')));
    await ledger.close();
  }
  const { code, stdout } = await view('billing', 'report', '--by', 'account', '--json');
  const { rows } = JSON.parse(stdout);
  expect(code).toBe(0);
  for (const [key, figures] of addUp(counted, ['account'])) {
    const [account] = JSON.parse(key);
    const row = rows.find((each: { account: string }) => each.account === account);
    expect(row).toMatchObject({ recipients: figures.recipients, accepted: figures.accepted });
    expect(new Big(row.price).eq(figures.price)).toBe(true);
  }
}

test('a cell that is lost in the middle of a night stops only its own accounts, and the sums are whole after its return', async () => {
  const night = { over: false };
  const ends: { cell: CellName; code: number | null }[] = [];
  const nightOf = async (cell: CellName): Promise<void> => {
    while (!night.over) ends.push({ cell, code: (await inCell(cell, 'run', `${cell}.yaml`, '--json')).code });
  };
  const nights = Promise.all(cellNames.map(nightOf));
  const runsOf = (cell: CellName): number => ends.filter((end) => end.cell === cell && end.code === 0).length;
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await sleep(100);
  };
  await until(() => cellNames.every((cell) => runsOf(cell) >= 1));
  expect((await view('runs')).code).toBe(0);

  await servers.west.kill();
  const before = { north: runsOf('north'), south: runsOf('south') };
  const answers = await Promise.all([
    view('runs', '--json'),
    view('billing', 'report', '--json'),
    view('doctor'),
  ]);
  for (const { code } of answers) expect(code).toBe(3);
  for (const { stderr } of answers.slice(0, 2)) expect(stderr).toContain('cell west: It is away');
  expect(answers[2]?.stdout).toMatch(/problem +cell west: database/);
  expect(new Set(linesOf(answers[0]?.stdout ?? '').map(({ cell }) => cell))).toEqual(
    new Set(['north', 'south']),
  );
  expect(JSON.parse(answers[1]?.stdout ?? '').subtitle).toContain('without the cells that are away: west');
  await until(() => runsOf('north') >= before.north + 2 && runsOf('south') >= before.south + 2);

  await servers.west.start();
  await servers.west.isReady();
  const wests = runsOf('west');
  await until(() => runsOf('west') > wests);
  night.over = true;
  await nights;
  for (const cell of ['north', 'south'] as const)
    expect(ends.filter((end) => end.cell === cell && end.code !== 0)).toEqual([]);
  await inCell('west', 'resume', '--all');
  await expectSumsOfRecount();
  const runs = linesOf((await view('runs', '--json', '--limit', '1000')).stdout);
  process.stdout.write(
    `  runs of the night: ${JSON.stringify(
      Object.groupBy(runs, ({ cell }) => cell),
      (_, value) => (Array.isArray(value) ? value.length : value),
    )}\n`,
  );
  const acceptances = await service.acceptances();
  expect(new Set(acceptances.map(({ messageId }) => messageId)).size).toBe(acceptances.length);
});

test('a closing that is killed at any moment is completed by the same command, and named until then', async () => {
  const previous = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 1, 1));
  const month = previous.toISOString().slice(0, 7);
  const words = ['billing', 'close', month, '--time-zone', 'UTC', '--json'];
  let partly = 0;
  for (let kill = 0; ; kill++) {
    const started = startVolley(words, { cwd: workspace.folder, env: viewEnvironment() });
    await sleep(300 + random('closing', kill, 1_200));
    started.process.kill('SIGKILL');
    await started.ended;
    const closed = linesOf((await view('billing', 'list', '--json')).stdout).map(({ cell }) => cell);
    const doctor = JSON.parse((await view('doctor', '--json')).stdout);
    const check = doctor.checks.find(({ name }: { name: string }) => name === 'closed months of cells');
    expect(check.state).toBe(closed.length === 0 || closed.length === 3 ? 'ok' : 'warning');
    if (closed.length === 1 || closed.length === 2) partly++;
    if (closed.length === 3 || kill > 3) break;
  }
  const { code, stdout } = await view(...words);
  expect([code, linesOf(stdout).map(({ cell, failed }) => [cell, failed])]).toEqual([
    0,
    cellNames.map((cell) => [cell, null]),
  ]);
  process.stdout.write(`  closings that a kill left in some cells: ${partly}\n`);
});

test('a move that is killed at any moment leaves the account in one cell, and the same command completes it', async () => {
  await view('suppress', 'add', '+61400000077', '--channel', 'sms', '--account', 'bravo');
  const places: CellName[] = ['south', 'north'];
  let kills = 0;
  for (let index = 0; index < 6; index++) {
    const to = places[index % 2] ?? 'south';
    for (;;) {
      const started = startVolley(['cells', 'move', 'bravo', '--to', to], {
        cwd: workspace.folder,
        env: viewEnvironment(),
      });
      const killed = await Promise.race([
        started.ended.then(() => false),
        sleep(250 + random('move', kills, 1_500), true),
      ]);
      if (killed) {
        started.process.kill('SIGKILL');
        await started.ended;
        kills++;
      }
      const cells = readCells(await workspace.read('cells.yaml'), 'cells.yaml');
      expect(cells.filter(({ accounts }) => accounts.includes('bravo'))).toHaveLength(1);
      const open: CellName[] = [];
      for (const cell of ['north', 'south'] as const) {
        const ledger = await openLedger({ connectionString: urls[cell] }, cell, { access: 'read' });
        const { rowCount } = await ledger.pool.query(`SELECT FROM moved_accounts WHERE account = 'bravo'`);
        if (rowCount === 0) open.push(cell);
        await ledger.close();
      }
      // Before its first move no ledger forbids it.
      if (index > 0 || open.length < 2) expect(open.length).toBeLessThanOrEqual(1);
      if (cells.find(({ name }) => name === to)?.accounts.includes('bravo')) {
        expect(open).toEqual([to]);
        break;
      }
    }
  }
  process.stdout.write(`  moves killed: ${kills}\n`);
});
