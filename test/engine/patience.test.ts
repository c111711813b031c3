import { expect, test } from 'vitest';
import { openPatience } from '../../src/engine/patience.ts';

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
