import { readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeResult } from '../../src/cli/output/write-result.ts';
import { inOrder } from '../support/sheets.ts';
import { problemsRejected } from '../support/thrown-problems.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
let out: string;
beforeEach(async () => {
  workspace = await makeWorkspace();
  out = join(workspace.folder, 'result.csv');
});
afterEach(() => workspace[Symbol.asyncDispose]());

const shell = { result: process.stdout, settings: { environment: {}, workingFolder: process.cwd() } };

test('a result is complete in its file, which only its user can read, and leaves no other file', async () => {
  await writeResult(shell, inOrder(['a,b\n', Buffer.from('1,2\n')]), out);
  expect(await workspace.read('result.csv')).toBe('a,b\n1,2\n');
  expect((await stat(out)).mode & 0o777).toBe(0o600);
  expect(await readdir(workspace.folder)).toEqual(['result.csv']);
});

test('a result that fails in the middle leaves no file', async () => {
  async function* broken(): AsyncGenerator<string, void, undefined> {
    yield 'a,b\n';
    throw new Error('the ledger is away');
  }
  await expect(writeResult(shell, broken(), out)).rejects.toThrow('the ledger is away');
  expect(await readdir(workspace.folder)).toEqual([]);
});

test('an existing file is not changed, and nothing is read for it', async () => {
  await writeFile(out, 'mine');
  let isRead = false;
  async function* pieces(): AsyncGenerator<string, void, undefined> {
    isRead = true;
    yield 'theirs';
  }
  expect(await problemsRejected(() => writeResult(shell, pieces(), out))).toEqual([
    `${out}: The file cannot be written (it exists already; remove it or choose another name).`,
  ]);
  expect({ asked: isRead, content: await workspace.read('result.csv') }).toEqual({
    asked: false,
    content: 'mine',
  });
});

test('a file that appears during the write is not changed', async () => {
  async function* pieces(): AsyncGenerator<string, void, undefined> {
    yield 'theirs';
    await writeFile(out, 'mine');
  }
  expect(await problemsRejected(() => writeResult(shell, pieces(), out))).toEqual([
    `${out}: The file cannot be written (it exists already; remove it or choose another name).`,
  ]);
  expect(await workspace.read('result.csv')).toBe('mine');
  expect(await readdir(workspace.folder)).toEqual(['result.csv']);
});

test('a missing folder is reported', async () => {
  const nowhere = join(workspace.folder, 'none', 'result.csv');
  expect(await problemsRejected(() => writeResult(shell, inOrder(['a']), nowhere))).toEqual([
    `${nowhere}: The file cannot be written (there is no folder ${dirname(nowhere)}).`,
  ]);
});
