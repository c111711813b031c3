import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CellName, cellNames, useCells } from '../support/cells-scene.ts';

const scene = useCells();

const october = () => new Date('2026-11-02T08:00Z');

function linesOf(stdout: string) {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function suppressedIn(cell: CellName): Promise<string[]> {
  const { rows } = await scene.ledgers[cell].ledger.pool.query<{ address: string }>(
    'SELECT address FROM suppressions ORDER BY address',
  );
  return rows.map(({ address }) => address);
}

async function monthsOf(cell: CellName): Promise<string[]> {
  const { rows } = await scene.ledgers[cell].ledger.pool.query<{ period: string }>(
    'SELECT period FROM billing_closings ORDER BY period',
  );
  return rows.map(({ period }) => period);
}

describe('suppressions of all cells', () => {
  test('an import that fails in a cell says where, is kept in the others, and can be repeated', async () => {
    await scene.workspace.write('out.csv', 'Phone\n+61400000001\n+61400000002\n');
    const words = ['suppress', 'import', 'out.csv', '--channel', 'sms', '--json'];
    const first = await scene.command(words, { away: ['south'] });
    expect([first.code, linesOf(first.stdout)]).toEqual([
      3,
      [
        { cell: 'north', added: 2, already: 0, failed: null },
        { cell: 'west', added: 2, already: 0, failed: null },
        { cell: 'south', added: null, already: null, failed: expect.stringContaining('ECONNREFUSED') },
      ],
    ]);
    expect(first.stderr).toContain('Not done in south. Repeat the command');
    expect(await suppressedIn('south')).toEqual([]);
    const second = await scene.command(words);
    expect([second.code, linesOf(second.stdout)]).toMatchObject([
      0,
      [
        { cell: 'north', added: 0, already: 2 },
        { cell: 'south', added: 2, already: 0 },
        { cell: 'west', added: 0, already: 2 },
      ],
    ]);
    for (const cell of cellNames) expect(await suppressedIn(cell)).toEqual(['+61400000001', '+61400000002']);
  });

  test('a file that cannot be read is bad input, and nothing is changed in any cell', async () => {
    const { code, stdout } = await scene.command(['suppress', 'import', 'missing.csv', '--channel', 'email']);
    expect([code, stdout]).toEqual([2, '']);
  });

  test('an import from a pipe, which only one cell could read, is refused before any cell is asked', async () => {
    const pipe = join(scene.workspace.folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('sh', ['-c', `printf 'Phone\\n+61400000007\\n' > "$0"`, pipe]);
    const { code, stdout, stderr } = await scene.command(['suppress', 'import', 'pipe', '--channel', 'sms']);
    writer.kill();
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('pipe: This is no regular file');
    for (const cell of cellNames) expect(await suppressedIn(cell)).not.toContain('+61400000007');
  });

  test('volley suppress list lists cell by cell, and says which cell is away', async () => {
    await scene.command(['suppress', 'add', 'ann@example.org', '--channel', 'email']);
    const words = ['suppress', 'list', '--address', 'ann@example.org', '--json'];
    expect(linesOf((await scene.command(words)).stdout).map(({ cell }) => cell)).toEqual(cellNames);
    const { code, stdout, stderr } = await scene.command(words, { away: ['north'] });
    expect([code, linesOf(stdout).map(({ cell }) => cell)]).toEqual([3, ['south', 'west']]);
    expect(stderr).toContain('cell north: It is away');
  });

  test('volley suppress remove removes an address from all cells', async () => {
    const words = ['suppress', 'remove', 'ann@example.org', '--channel', 'email', '--json'];
    const { code, stdout } = await scene.command(words);
    expect([code, linesOf(stdout)]).toEqual([
      0,
      cellNames.map((cell) => ({ cell, removed: 1, missing: 0, others: 0, failed: null })),
    ]);
  });

  test('volley suppress remove names what is still suppressed in each cell', async () => {
    const words = (...more: string[]) => ['suppress', ...more, 'bob@example.org', '--channel', 'email'];
    await scene.command([...words('add'), '--account', 'sandbox']);
    const { code, stdout } = await scene.command(words('remove'), { away: ['west'] });
    expect(code).toBe(3);
    expect(stdout).toContain('│ Still suppressed');
    expect(stdout).toContain(
      'cell north: bob@example.org (email) for account "sandbox" is still suppressed.\n' +
        'cell south: bob@example.org (email) for account "sandbox" is still suppressed.\n',
    );
    const json = linesOf((await scene.command([...words('remove'), '--json'])).stdout);
    expect(json).toMatchObject(cellNames.map((cell) => ({ cell, removed: 0, missing: 1, others: 1 })));
  });
});

describe('months of all cells', () => {
  const close = (...words: string[]) => ['billing', 'close', '2026-10', '--json', ...words];

  test('a month is closed in no cell while one is away', async () => {
    const { code, stdout, stderr } = await scene.command(close('--time-zone', 'UTC'), {
      away: ['west'],
      now: october,
    });
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('Nothing was closed now: a month is closed when all cells answer.');
    for (const cell of cellNames) expect(await monthsOf(cell)).toEqual([]);
  });

  test('a month that is not over in one cell is closed in none', async () => {
    const { code, stderr } = await scene.command(close('--time-zone', 'UTC'), {
      now: () => new Date('2026-10-31T08:00Z'),
    });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('cell north: billing close 2026-10: It ends at'),
    ]);
    for (const cell of cellNames) expect(await monthsOf(cell)).toEqual([]);
  });

  test('a month that was closed in one cell only is named as such, until a repetition closes it in all', async () => {
    const { pool } = scene.ledgers.north.ledger;
    await pool.query(
      `INSERT INTO billing_closings (period, time_zone, begins_at, ends_at, closed_at, closed_by)
       VALUES ('2026-10', 'UTC', '2026-10-01Z', '2026-11-01Z', '2026-11-01T03:00Z', 'ann')`,
    );
    const report = ['billing', 'report', '--from', '2026-10', '--to', '2026-11', '--json'];
    const before = JSON.parse((await scene.command(report)).stdout);
    expect(before.subtitle).toContain('closed in north, and not in south, west');
    const doctor = JSON.parse((await scene.command(['doctor', '--json'])).stdout);
    expect(
      doctor.checks.filter(({ name }: { name: string }) => name === 'closed months of cells'),
    ).toMatchObject([{ state: 'warning', found: '2026-10 is closed in north, and not in south, west.' }]);

    const { code, stdout } = await scene.command(close(), { now: october });
    expect([code, linesOf(stdout)]).toMatchObject([
      0,
      [
        { cell: 'north', period: '2026-10', closedBy: 'ann', failed: null },
        { cell: 'south', period: '2026-10', timeZone: 'UTC', closedBy: 'tester@here', failed: null },
        { cell: 'west', period: '2026-10', timeZone: 'UTC', closedBy: 'tester@here', failed: null },
      ],
    ]);
    const after = JSON.parse((await scene.command(report)).stdout);
    expect(after.subtitle).toContainEqual(expect.stringMatching(/^closed .* UTC by /));
    const list = await scene.command(['billing', 'list', '--json']);
    expect(linesOf(list.stdout).map(({ cell }) => cell)).toEqual(cellNames);
  });

  test('cells whose months are months of different zones close none together', async () => {
    const { pool } = scene.ledgers.west.ledger;
    await pool.query(`UPDATE billing_closings SET time_zone = 'Pacific/Auckland'`);
    const { code, stderr } = await scene.command(['billing', 'close', '2026-11'], {
      now: () => new Date('2026-12-02T08:00Z'),
    });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('cell west: Its months are months of Pacific/Auckland'),
    ]);
    expect(await monthsOf('north')).toEqual(['2026-10']);
  });
});
