import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ensureHashKey, readHashKey } from '../../src/platform/hash-key.ts';
import { testWorkspace } from '../support/test-workspace.ts';
import { problemsThrown } from '../support/thrown-problems.ts';

const workspace = testWorkspace({});

const long = 'k'.repeat(32);

test('VOLLEY_HASH_KEY takes precedence over the key in the file', async () => {
  await workspace.write('home/hash-key', `${'f'.repeat(64)}\n`);
  const home = { VOLLEY_HOME: 'home' };
  expect(readHashKey(home, workspace.folder)?.toString()).toBe('f'.repeat(64));
  expect(readHashKey({ ...home, VOLLEY_HASH_KEY: long }, workspace.folder)?.toString()).toBe(long);
  expect(readHashKey({ VOLLEY_HOME: 'nowhere' }, workspace.folder)).toBeUndefined();
});

test('a key that is too short is rejected, and the error does not repeat it', () => {
  const [problem] = problemsThrown(() => readHashKey({ VOLLEY_HASH_KEY: 'password' }, workspace.folder));
  expect(problem).toMatch(/^VOLLEY_HASH_KEY: .* 8 characters/);
  expect(problem).not.toContain('password');
});

test('ensureHashKey creates a key once, readable only by this user', async () => {
  const environment = { VOLLEY_HOME: 'new' };
  const { made } = ensureHashKey(environment, workspace.folder, randomBytes);
  expect((await stat(made ?? '')).mode & 0o777).toBe(0o600);
  const key = readHashKey(environment, workspace.folder);
  expect(key?.toString()).toMatch(/^[0-9a-f]{64}$/);
  expect(ensureHashKey(environment, workspace.folder, randomBytes).made).toBeUndefined();
  expect(readHashKey(environment, workspace.folder)).toEqual(key);
});

test('ensureHashKey creates no key for a database at DATABASE_URL', () => {
  const environment = { VOLLEY_HOME: 'shared', DATABASE_URL: 'postgres://there/volley' };
  expect(problemsThrown(() => ensureHashKey(environment, workspace.folder, randomBytes))).toHaveLength(1);
  expect(readHashKey(environment, workspace.folder)).toBeUndefined();
});
