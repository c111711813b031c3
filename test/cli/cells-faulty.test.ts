import { beforeAll, describe, expect, test } from 'vitest';
import { useCells } from '../support/cells-scene.ts';
import { openTestLedger } from '../support/ledger.ts';
import { runStatement } from '../support/statement.ts';

const scene = useCells();

const runs = { north: '261101-aaaaa', south: '261102-bbbbb' } as const;
beforeAll(async () => {
  await scene.send('north', { run: runs.north, account: 'alfa' });
  await scene.send('south', { run: runs.south, account: 'charlie' });
});

describe('two cells with the ledger of one', () => {
  const twice = (): Record<string, string> => ({
    SOUTH_READ_URL: scene.environment['NORTH_READ_URL'] ?? '',
    SOUTH_WRITE_URL: scene.environment['NORTH_WRITE_URL'] ?? '',
  });

  test.each(['runs', 'billing report', 'report campaigns'])(
    'volley %s is refused instead of counting it twice',
    async (command) => {
      const { code, stdout, stderr } = await scene.command(command.split(' '), { env: twice() });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toBe(
        'cells.yaml:9:5: Cell south has the ledger of cell north: SOUTH_READ_URL and NORTH_READ_URL name the same one. Correct one of them.\n',
      );
    },
  );

  test('a change is refused before it is made in any cell', async () => {
    const words = ['suppress', 'add', '+61400000001', '--channel', 'sms'];
    const { code, stderr } = await scene.command(words, { env: twice() });
    expect([code, stderr]).toEqual([2, expect.stringContaining('SOUTH_WRITE_URL and NORTH_WRITE_URL')]);
    const { rows } = await scene.ledgers.west.ledger.pool.query('SELECT FROM suppressions');
    expect(rows).toEqual([]);
  });
});

test('a change is refused where a cell reads another ledger than it changes, before it is made in any cell', async () => {
  const words = ['suppress', 'add', '+61400000001', '--channel', 'sms'];
  const env = { SOUTH_READ_URL: scene.environment['WEST_READ_URL'] ?? '' };
  const { code, stderr } = await scene.command(words, { env });
  expect([code, stderr]).toEqual([
    2,
    'cells.yaml:9:5: Cell south reads another ledger than it changes: SOUTH_READ_URL and SOUTH_WRITE_URL name two. Correct one of them.\n',
  ]);
  const { rows } = await scene.ledgers.north.ledger.pool.query('SELECT FROM suppressions');
  expect(rows).toEqual([]);
});

describe('a cell whose Postgres refuses the question', () => {
  test('volley runs lists the runs of the others, names the cell and ends with 3', async () => {
    const { username } = new URL(scene.environment['SOUTH_READ_URL'] ?? '');
    await runStatement(scene.ledgers.south.url, `REVOKE SELECT ON runs FROM ${username}`);
    const { code, stdout, stderr } = await scene.command(['runs']);
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/^cell south: It is away, .*permission denied for table runs\)\.\n$/),
    ]);
    expect(stdout).toContain(runs.north);
    const { code: found } = await scene.command(['status', runs.north]);
    expect(found).toBe(0);
    await runStatement(scene.ledgers.south.url, `GRANT SELECT ON runs TO ${username}`);
  });
});

describe('a cell with the schema of an older Volley', () => {
  test('a change is refused there and does not migrate it, and the other cells have it', async () => {
    const old = await openTestLedger();
    await old.ledger.pool.query('UPDATE ledger_location SET ledger = gen_random_uuid()');
    await old.ledger.pool.query(
      'DELETE FROM knex_migrations WHERE id = (SELECT max(id) FROM knex_migrations)',
    );
    const words = ['suppress', 'add', '+61400000002', '--channel', 'sms', '--json'];
    const { code, stdout } = await scene.command(words, { env: { SOUTH_WRITE_URL: old.url } });
    await old.close();
    expect(code).toBe(3);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { cell: 'north', added: 1 },
      { cell: 'west', added: 1 },
      { cell: 'south', added: null, failed: expect.stringContaining('is of an older Volley') },
    ]);
  });
});
