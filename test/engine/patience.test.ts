import { expect, test } from 'vitest';
import { openPatience } from '../../src/engine/patience.ts';

/** Patience whose words are written down. */
function open(end = new AbortController().signal) {
  const told: string[] = [];
  const patience = openPatience(
    { onLost: ({ message }) => told.push(`lost: ${message}`), onBack: () => told.push('back') },
    end,
  );
  return { told, ...patience };
}

/** Work that fails so often, and then answers how often it was tried. */
function failing(times: number, error: () => Error) {
  let tries = 0;
  return async (): Promise<number> => {
    tries++;
    if (tries <= times) throw error();
    return tries;
  };
}

const away = (): Error => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const coded = (code: string) => (): Error => Object.assign(new Error('from Postgres'), { code });

test('work that succeeds is done once, and nothing is told', async () => {
  const { persist, told } = open();
  expect(await persist(failing(0, away))).toBe(1);
  expect(told).toEqual([]);
});

test('a ledger that is away is waited for; it is told once that it is, and once that it is back', async () => {
  const { persist, told } = open();
  expect(await persist(failing(3, away))).toBe(4);
  expect(told).toEqual(['lost: connect ECONNREFUSED', 'back']);
});

test('several who wait for it tell it once', async () => {
  const { persist, told } = open();
  await Promise.all([persist(failing(2, away)), persist(failing(2, away))]);
  expect(told.filter((word) => word.startsWith('lost'))).toHaveLength(1);
});

test.each(['08006', '57P01', '57P03', '3D000', '40P01', '40001', 'ECONNRESET', 'EPIPE'])(
  'work that fails with %s is done again',
  async (code) => {
    expect(await open().persist(failing(1, coded(code)))).toBe(2);
  },
);

test('a connection that ends in the middle of a query is a ledger that is away', async () => {
  const { persist } = open();
  expect(await persist(failing(1, () => new Error('Connection terminated unexpectedly')))).toBe(2);
});

test.each(['23505', '42P01', '22P02'])(
  'work that fails with %s is not done again: it is a mistake',
  async (code) => {
    const { persist, told } = open();
    await expect(persist(failing(1, coded(code)))).rejects.toThrow('from Postgres');
    expect(told).toEqual([]);
  },
);

test('a mistake of ours is not taken for a ledger that is away', async () => {
  const { persist } = open();
  await expect(persist(failing(1, () => new TypeError('undefined is not a function')))).rejects.toThrow(
    TypeError,
  );
});

test('patience ends with the process', async () => {
  const end = new AbortController();
  const { persist, told } = open(end.signal);
  const waiting = persist(failing(Number.POSITIVE_INFINITY, away));
  setTimeout(() => end.abort(new Error('the process has to end')), 50);
  await expect(waiting).rejects.toThrow('the process has to end');
  expect(told).toEqual(['lost: connect ECONNREFUSED']);
});
