import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isLocked, openLock, runScript, scriptArguments } from '../../src/platform/server-locks.ts';

function makePath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'volley-test-locks-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'lock');
}

function open(path: string): number {
  const file = openLock(path);
  onTestFinished(() => {
    try {
      closeSync(file);
    } catch {
      // The test has closed it.
    }
  });
  return file;
}

async function acquire(file: number, seconds: number, kind: 's' | 'x'): Promise<boolean> {
  return (await runScript(scriptArguments(`lock ${seconds} ${kind} <&3`), [file])) === 0;
}

test('a lock belongs to one open file or is shared by several, and is freed when a file closes', async () => {
  const path = makePath();
  const [one, other, third] = [open(path), open(path), open(path)];
  expect([await acquire(one, 0, 's'), await acquire(other, 0, 's')]).toEqual([true, true]);
  expect([await acquire(third, 0, 'x'), isLocked(path)]).toEqual([false, false]);
  closeSync(one);
  closeSync(other);
  expect([await acquire(third, 0, 'x'), isLocked(path)]).toEqual([true, true]);
});

test('a waiting process gets a lock when the holder is killed', async () => {
  const path = makePath();
  const held = open(path);
  const holder = spawn('/bin/sh', scriptArguments('lock 0 x <&3; echo held; sleep 60 & wait'), {
    stdio: ['ignore', 'pipe', 'ignore', held],
    detached: true,
  });
  await once(holder.stdout ?? holder, 'data');
  closeSync(held);
  const own = open(path);
  expect([await acquire(own, 0, 's'), isLocked(path)]).toEqual([false, true]);
  const waiting = acquire(own, 30, 'x');
  process.kill(-(holder.pid ?? 0), 'SIGKILL');
  expect(await waiting).toBe(true);
});

test('a process does not get a lock that is not freed in time', async () => {
  const path = makePath();
  expect(await acquire(open(path), 0, 'x')).toBe(true);
  expect(await acquire(open(path), 1, 's')).toBe(false);
});
