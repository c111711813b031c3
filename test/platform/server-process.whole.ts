import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openLock, runScript, scriptArguments } from '../../src/platform/server-locks.ts';
import { stopScript } from '../../src/platform/server-process.ts';

test('the stop script signals the process that works in the data folder, and ends when its lock is free', async () => {
  const { server, stop, giveBack } = await serve();
  const stopping = stop();
  await once(server, 'exit');
  expect(server.signalCode).toBe('SIGINT');
  giveBack();
  expect(await stopping).toBe(0);
});

test('the stop script does not signal a process that has the pid but does not work in the data folder', async () => {
  const { server: stranger, stop } = await serve({ folder: '/' });
  expect(await stop()).toBe(4);
  await sleep(100);
  expect(stranger.signalCode).toBe(null);
});

// Omits numbers that address several processes: a mistake here must not end other programs.
test.each(['', 'self', '../proc/self', '007'])(
  'the stop script signals nothing if postmaster.pid contains "%s"',
  async (written) => {
    const { server, stop, giveBack } = await serve({ written });
    const stopping = stop();
    await sleep(300);
    expect(server.signalCode).toBe(null);
    giveBack();
    expect(await stopping).toBe(0);
  },
);

test('the stop script signals nothing and ends if it cannot lock files', async () => {
  const { data, server, stop } = await serve();
  // O_PATH, which Node does not name: the file is open, but cannot be used.
  const unusable = openSync(data, 0o10000000 | constants.O_DIRECTORY);
  onTestFinished(() => closeSync(unusable));
  await expect(stop(unusable)).rejects.toThrow(
    /^files cannot be locked \(flock: .+\)\. Install the program flock \(package util-linux\)/,
  );
  await sleep(100);
  expect(server.signalCode).toBe(null);
});

/**
 * Prepares the traces of a server: data, a process that works there or elsewhere, postmaster.pid, and the data
 * lock.
 */
async function serve({ folder, written }: { folder?: string; written?: string } = {}) {
  const data = mkdtempSync(join(tmpdir(), 'volley-test-data-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  const pg = join(data, 'pg');
  mkdirSync(pg);
  const server = spawn('/bin/sleep', ['60'], { cwd: folder ?? pg, stdio: 'ignore' });
  onTestFinished(() => void server.kill('SIGKILL'));
  writeFileSync(join(pg, 'postmaster.pid'), `${written ?? server.pid}\n`);
  const [held, own] = [openLock(join(data, 'lock')), openLock(join(data, 'lock'))];
  onTestFinished(() => closeSync(own));
  await runScript(scriptArguments('lock 0 x <&3'), [held]);
  const stop = (lock = own) => runScript(scriptArguments(stopScript, data), [own, own, lock]);
  return { data, server, stop, giveBack: () => closeSync(held) };
}
