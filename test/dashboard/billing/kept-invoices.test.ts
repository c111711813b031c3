import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKeptInvoices, type KeptInvoices } from '../../../src/dashboard/billing/kept-invoices.ts';

let now: number;
let invoices: KeptInvoices;
beforeEach(() => {
  now = Date.UTC(2026, 10, 30);
  invoices = createKeptInvoices(() => new Date(now));
});
afterEach(() => invoices.close());

const keep = (owner: string, text: string) => invoices.keep(owner, 'november.csv', Readable.from([text]));

test('an invoice is found by its owner only, in a file that only this user can read', async () => {
  const { id, path, name } = await keep('ann', 'lines');
  expect(name).toBe('november.csv');
  expect(await readFile(path, 'utf8')).toBe('lines');
  expect(statSync(path).mode & 0o077).toBe(0);
  expect(statSync(dirname(path)).mode & 0o077).toBe(0);
  expect(invoices.find('ann', id)?.path).toBe(path);
  expect(invoices.find('bob', id)).toBeUndefined();
  expect(invoices.find('ann', '../november.csv')).toBeUndefined();
});

test('an invoice is kept for an hour, and its file is deleted with the next one', async () => {
  const { id, path } = await keep('ann', 'old');
  now += 3_600_000;
  expect(invoices.find('ann', id)).toBeUndefined();
  await keep('bob', 'new');
  expect(existsSync(path)).toBe(false);
});

test('the fourth invoice of an owner replaces the first', async () => {
  const kept = [];
  for (const text of ['1', '2', '3', '4']) kept.push(await keep('ann', text));
  expect(kept.map(({ id }) => invoices.find('ann', id) !== undefined)).toEqual([false, true, true, true]);
  expect(kept.map(({ path }) => existsSync(path))).toEqual([false, true, true, true]);
});

test('the thirty-first invoice replaces the oldest', async () => {
  const kept = [];
  for (let owner = 0; owner <= 30; owner++) kept.push(await keep(`owner ${owner}`, 'x'));
  expect(kept.filter(({ path }) => existsSync(path))).toHaveLength(30);
  expect(existsSync(kept[0]?.path ?? '')).toBe(false);
});

test('many files of an owner at once are no more than are kept', async () => {
  const started = Promise.withResolvers<void>();
  async function* slow(): AsyncGenerator<string, void, undefined> {
    yield 'begin';
    await started.promise;
    yield 'end';
  }
  const first = await keep('ann', 'whole');
  const all = Array.from({ length: 40 }, () => invoices.keep('ann', 'x.csv', Readable.from(slow())));
  const ended = Promise.allSettled(all);
  await expect.poll(() => readdirSync(dirname(first.path))).toHaveLength(3);
  started.resolve();
  const whole = (await ended).filter(({ status }) => status === 'fulfilled');
  expect(whole).toHaveLength(3);
  expect(readdirSync(dirname(first.path))).toHaveLength(3);
  await expect(all[0]).rejects.toThrow('Later files replaced it');
});

test('nothing is kept of a file that breaks off', async () => {
  async function* broken(): AsyncGenerator<string, void, undefined> {
    yield 'half';
    throw new Error('the caller disconnected');
  }
  const { path } = await keep('ann', 'whole');
  await expect(invoices.keep('ann', 'x', Readable.from(broken()))).rejects.toThrow('disconnected');
  await invoices.close();
  expect(existsSync(dirname(path))).toBe(false);
});

test('the invoices of a killed process are removed at the next start, and those of a running one are not', async () => {
  const { path } = await keep('ann', 'of this process');
  // No process has such a number.
  const left = join(tmpdir(), 'volley-invoices-4999999.12345-a1B2c3');
  const other = join(tmpdir(), 'volley-invoices-of-a-person');
  for (const folder of [left, other]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'invoice'), 'left');
  }
  await createKeptInvoices(() => new Date(now)).close();
  expect([left, other, path].map((each) => existsSync(each))).toEqual([false, true, true]);
  rmSync(other, { recursive: true });
});
