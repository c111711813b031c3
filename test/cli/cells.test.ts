import { beforeAll, describe, expect, test } from 'vitest';
import { awayUrl, cellsYaml, useCells } from '../support/cells-scene.ts';

const scene = useCells();

const runs = { north: '261101-aaaaa', south: '261102-bbbbb', west: '261103-ccccc' } as const;
beforeAll(async () => {
  await scene.send('north', { run: runs.north, account: 'alfa', createdAt: new Date('2026-11-01T08:00Z') });
  await scene.send('south', {
    run: runs.south,
    account: 'charlie',
    createdAt: new Date('2026-11-02T08:00Z'),
  });
  await scene.send('west', { run: runs.west, account: 'delta', createdAt: new Date('2026-11-03T08:00Z') });
});

describe('cells.yaml', () => {
  test('an account that is in two cells is refused, with the places of both', async () => {
    await scene.workspace.write('twice.yaml', cellsYaml.replace('[delta]', '[delta, bravo]'));
    const { code, stderr } = await scene.command(['runs'], { env: { VOLLEY_CELLS: 'twice.yaml' } });
    expect([code, stderr]).toEqual([
      2,
      'twice.yaml:17:23: Account "bravo" is also in cell north (twice.yaml:7:22); expected each account in one cell.\n',
    ]);
  });

  test('an address that is written into the file is refused, and not printed', async () => {
    const written = cellsYaml.replace('${WEST_READ_URL}', 'postgres://volley:word-in-file@db/volley');
    await scene.workspace.write('written.yaml', written);
    const { code, stderr } = await scene.command(['runs'], { env: { VOLLEY_CELLS: 'written.yaml' } });
    expect([code, stderr]).toEqual([2, expect.stringContaining('written.yaml:14:11: ')]);
    expect(stderr).not.toContain('word-in-file');
  });

  test('an address that is not set is named with the cell, before any cell is asked', async () => {
    const { code, stdout, stderr } = await scene.command(['runs'], { env: { SOUTH_READ_URL: '' } });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('cells.yaml:9:5: Environment variable SOUTH_READ_URL is not set.');
  });
});

describe('runs of all cells', () => {
  test('volley runs lists the runs of all cells with a role that only reads, the newest first', async () => {
    const { code, stdout } = await scene.command(['runs', '--json', '--limit', '2']);
    expect(code).toBe(0);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { cell: 'west', run: runs.west, account: 'delta' },
      { cell: 'south', run: runs.south, account: 'charlie' },
    ]);
    expect((await scene.command(['runs'])).stdout).toMatch(/│ Cell +│ Run/);
  });

  test('volley runs names a cell that is away, lists the others, ends with 3 and prints no password', async () => {
    const { code, stdout, stderr } = await scene.command(['runs'], { away: ['south'] });
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(
        /^cell south: It is away, and what it knows is missing \(.*ECONNREFUSED.*\)\.\n$/,
      ),
    ]);
    expect(stdout).toContain(runs.north);
    expect(stdout).toContain(runs.west);
    expect(stderr).not.toContain('password');
  });

  test('volley runs says that it knows nothing when every cell is away', async () => {
    const { code, stdout, stderr } = await scene.command(['runs'], { away: ['north', 'south', 'west'] });
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr.match(/^cell \w+: It is away/gm)).toHaveLength(3);
  });

  test('volley status finds a run in the cell that has it', async () => {
    const { code, stdout, stderr } = await scene.command(['status', '261101', '--json']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('in cell north')]);
    expect(JSON.parse(stdout)).toMatchObject({ run: runs.north, requests: { total: 5, accepted: 5 } });
  });

  test('volley status latest names a cell that is away, because it may have a newer run', async () => {
    const { code, stdout, stderr } = await scene.command(['status', 'latest', '--json'], { away: ['west'] });
    expect([code, JSON.parse(stdout).run]).toEqual([3, runs.south]);
    expect(stderr).toContain('cell west: It is away');
  });

  test('volley status latest --exit-status ends with 3 for a cell that is away, although the run it found was accepted', async () => {
    const words = ['status', 'latest', '--exit-status'];
    expect((await scene.command(words)).code).toBe(0);
    expect((await scene.command(words, { away: ['west'] })).code).toBe(3);
  });

  test('volley status of a whole id needs no other cell', async () => {
    expect(await scene.command(['status', runs.north], { away: ['west'] })).toMatchObject({ code: 0 });
  });

  test('volley status of an unknown run is bad input, and not known while a cell is away', async () => {
    const words = ['status', '260101-zzzzz'];
    expect((await scene.command(words)).code).toBe(2);
    const { code, stderr } = await scene.command(words, { away: ['west'] });
    expect([code, stderr]).toEqual([3, expect.stringContaining('The cells that answer do not have it.')]);
    expect(stderr).toContain('cell west: It is away');
  });

  test('volley report run reports a run of any cell', async () => {
    const { code, stdout } = await scene.command(['report', 'run', runs.west, '--json']);
    expect([code, stdout]).toEqual([0, expect.stringContaining(runs.west)]);
  });
});

describe('volley doctor', () => {
  test('volley doctor checks the ledger of every cell, and names one that is away', async () => {
    const { code, stdout } = await scene.command(['doctor', '--json'], { away: ['west'] });
    expect(code).toBe(3);
    const { checks }: { checks: { name: string; state: string; found: string }[] } = JSON.parse(stdout);
    const database = checks.filter(({ name }) => name.endsWith(': database'));
    expect(database).toMatchObject([
      { name: 'cell north: database', state: 'ok' },
      { name: 'cell south: database', state: 'ok' },
      { name: 'cell west: database', state: 'problem' },
    ]);
    expect(checks.filter(({ name }) => name === 'cell north: migrations')).toMatchObject([{ state: 'ok' }]);
    expect(checks).toContainEqual({
      name: 'closed months of cells',
      state: 'not checked',
      found: 'The last one is none yet. Not asked: west.',
      nextStep: null,
    });
    expect(checks.some(({ name }) => name === 'schedules')).toBe(false);
    expect(stdout).not.toContain('its-password');
  });

  test("volley doctor on a cell's own machine also checks the replica and the schedules of that machine", async () => {
    const env = { DATABASE_URL: scene.ledgers.north.url, DATABASE_READ_URL: awayUrl };
    const { checks } = JSON.parse((await scene.command(['doctor', '--json'], { env })).stdout);
    const own = ['database', 'replica', 'schedules', 'ticks'];
    expect(checks.filter(({ name }: { name: string }) => own.includes(name))).toMatchObject([
      { name: 'database', state: 'ok' },
      { name: 'replica', state: 'warning', found: expect.stringContaining('does not answer') },
      { name: 'schedules' },
      { name: 'ticks', state: 'ok' },
    ]);
    expect(checks.filter(({ name }: { name: string }) => name === 'workers')).toEqual([]);
  });
});
