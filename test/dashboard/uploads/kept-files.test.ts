import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createKeptFiles, type KeptFiles } from '../../../src/dashboard/uploads/kept-files.ts';

const options = ['volley-test-files', 3] as const;
let files: KeptFiles;
beforeEach(() => {
  files = createKeptFiles(...options);
});
afterEach(() => files.close());

const keep = (owner: string, text: string) => files.keep(owner, 'november.csv', Readable.from([text]));

test('a file is found by its owner only, in a file that only this user can read', async () => {
  const { id, path, name } = await keep('ann', 'lines');
  expect(name).toBe('november.csv');
  expect(await readFile(path, 'utf8')).toBe('lines');
  expect(statSync(path).mode & 0o077).toBe(0);
  expect(statSync(dirname(path)).mode & 0o077).toBe(0);
  expect(files.find('ann', id)?.path).toBe(path);
  expect(files.find('bob', id)).toBeUndefined();
  expect(files.find('ann', '../november.csv')).toBeUndefined();
});

test('a file is deleted after an hour', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { id, path } = await keep('ann', 'old');
    await vi.advanceTimersByTimeAsync(3_599_000);
    expect(files.find('ann', id)?.path).toBe(path);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(files.find('ann', id)).toBeUndefined();
    await expect.poll(() => existsSync(path)).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test('the fourth file of an owner replaces the first', async () => {
  const kept = [];
  for (const text of ['1', '2', '3', '4']) kept.push(await keep('ann', text));
  expect(kept.map(({ id }) => files.find('ann', id) !== undefined)).toEqual([false, true, true, true]);
  expect(kept.map(({ path }) => existsSync(path))).toEqual([false, true, true, true]);
});

test('the thirty-first file replaces the oldest', async () => {
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
  const all = Array.from({ length: 40 }, () => files.keep('ann', 'x.csv', Readable.from(slow())));
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
  await expect(files.keep('ann', 'x', Readable.from(broken()))).rejects.toThrow('disconnected');
  await files.close();
  expect(existsSync(dirname(path))).toBe(false);
});

test('the files of a killed process are removed at the next start, and those of a running one are not', async () => {
  const { path } = await keep('ann', 'of this process');
  // No process has such a number.
  const left = join(tmpdir(), 'volley-test-files-4999999.12345-a1B2c3');
  const other = join(tmpdir(), 'volley-test-files-of-a-person');
  for (const folder of [left, other]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'file'), 'left');
  }
  await createKeptFiles(...options).close();
  expect([left, other, path].map((each) => existsSync(each))).toEqual([false, true, true]);
  rmSync(other, { recursive: true });
});
