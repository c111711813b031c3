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

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' });

/** Patience that tells `told` what it says. */
function patient(told: string[], end = new AbortController().signal) {
  const outage = { onLost: ({ message }: Error) => told.push(message), onBack: () => told.push('back') };
  return openPatience(outage, end).persist;
}

test('the database is back when work succeeds that had met its absence, not when work asks nothing of it', async () => {
  const told: string[] = [];
  const persist = patient(told);
  let away = true;
  const waiting = persist(async () => {
    if (away) throw refused;
  });
  await persist(async () => 'nothing to ask');
  expect(told).toEqual(['connect ECONNREFUSED']);
  away = false;
  await waiting;
  expect(told).toEqual(['connect ECONNREFUSED', 'back']);
});

test('what Postgres undid because of another transaction is done again, and nobody is told that it is away', async () => {
  const told: string[] = [];
  let tries = 0;
  const persist = patient(told);
  const twice = async () => {
    if (++tries === 1) throw deadlock;
    return tries;
  };
  expect(await persist(twice)).toBe(2);
  expect(told).toEqual([]);
});

test('when patience ends, work fails with what the database failed with', async () => {
  const end = new AbortController();
  const persist = patient([], end.signal);
  const waiting = persist(async () => Promise.reject(refused));
  setTimeout(() => end.abort(), 50);
  await expect(waiting).rejects.toBe(refused);
  await expect(persist(async () => 'too late')).rejects.toBe(refused);
});
