import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import {
  addLease,
  dropLease,
  giveBackLock,
  leaseHolders,
  takeLock,
} from '../../src/platform/server-lease.ts';
import { inSteps, inStepsAtExit } from '../../src/platform/steps.ts';
import { spawnLockHolder } from '../support/lease-holder.ts';

function makeLeases(): { leases: string; journal: string } {
  const folder = mkdtempSync(join(tmpdir(), 'volley-test-leases-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const leases = join(folder, 'leases');
  mkdirSync(leases);
  return { leases, journal: join(folder, 'journal') };
}

async function startHoldingLock(leases: string): Promise<ChildProcess> {
  const child = spawnLockHolder(leases);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

test('a living process keeps the lock, and once it is killed the next one has it', async () => {
  const { leases } = makeLeases();
  const holder = await startHoldingLock(leases);
  const own = addLease(leases);
  let taken = false;
  const taking = inSteps(takeLock(leases, own)).then(() => {
    taken = true;
  });
  await sleep(300);
  expect([taken, leaseHolders(leases, own)]).toEqual([false, [holder.pid]]);

  await kill(holder);
  await taking;
  expect(leaseHolders(leases)).toEqual([process.pid]);
  giveBackLock(leases, own);
  dropLease(leases, own);
  expect(readdirSync(leases)).toEqual([]);
});

test('two leases of one process exclude each other, but not a lease that is the lock as its process ends', async () => {
  const { leases } = makeLeases();
  const [one, other] = [addLease(leases), addLease(leases)];
  await inSteps(takeLock(leases, one));
  let taken = false;
  const taking = inSteps(takeLock(leases, other)).then(() => {
    taken = true;
  });
  inStepsAtExit(takeLock(leases, one, true));
  await sleep(100);
  expect([taken, leaseHolders(leases, one)]).toEqual([false, [process.pid]]);
  dropLease(leases, one);
  await taking;
  expect(leaseHolders(leases, other)).toEqual([]);
});

test('what a killed process leaves in the place of the lock, or beside it, is gone after the next', async () => {
  const { leases } = makeLeases();
  await kill(await startHoldingLock(leases));
  expect(leaseHolders(leases)).toEqual([]);
  const own = addLease(leases);
  await inSteps(takeLock(leases, own));
  expect(readdirSync(join(leases, 'lock'))).toEqual([own]);
  expect(readdirSync(leases)).toEqual(['lock']);
});

test('a lease that has disappeared is made again, and becomes the lock', async () => {
  const { leases } = makeLeases();
  const own = addLease(leases);
  dropLease(leases, own);
  await inSteps(takeLock(leases, own));
  expect(leaseHolders(leases)).toEqual([process.pid]);
});

test('of many processes, some of them killed at any moment, one at a time has the lock', async () => {
  const { leases, journal } = makeLeases();
  const processes = Array.from({ length: 8 }, () => spawnLockHolder(leases, journal));
  const ended = processes.map((child) => once(child, 'exit'));
  await sleep(400);
  for (const child of processes.slice(0, 5)) {
    await sleep(60);
    child.kill('SIGKILL');
  }
  await Promise.all(ended);
  const notes = readFileSync(journal, 'utf8').trim().split('\n');
  const killed = new Set(processes.filter(({ signalCode }) => signalCode).map(({ pid }) => String(pid)));
  let holder: string | undefined;
  for (const note of notes) {
    const [sign, number] = [note[0], note.slice(1)];
    if (sign === '-') expect(holder).toBe(number);
    else expect(holder === undefined || killed.has(holder)).toBe(true);
    holder = sign === '+' ? number : undefined;
  }
  expect(notes.length).toBeGreaterThanOrEqual(3 * 60);
});
