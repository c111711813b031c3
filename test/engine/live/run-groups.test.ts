import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { createLiveRunLists } from '../../../src/engine/live/run-list.ts';
import { pause } from '../../../src/engine/runs/stop-run.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
const zone = 'Pacific/Auckland';
let number = 0;

async function plan(count: number, createdAt: Date): Promise<readonly string[]> {
  const runs: string[] = [];
  for (let index = 0; index < count; index++) {
    const run = aRun({ run: `grouped-${++number}`, campaign: 'grouped', createdAt });
    runs.push(await planContacts(opened.ledger, run, [aContact(2), aContact(3)]));
  }
  return runs;
}

/** Reads it three times, because a connection that the pool opens meanwhile asks a few statements itself. */
async function readOften() {
  const readings = [await readStartPage(), await readStartPage(), await readStartPage()];
  return readings.reduce((least, each) => (each.statements < least.statements ? each : least));
}

/** Reads what the start page shows. @returns the number of statements, and the groups */
async function readStartPage(accounts: readonly string[] | null = null) {
  const asked = vi.spyOn(pg.Client.prototype, 'query');
  try {
    const { groups } = await createLiveRunLists(opened.context)({ accounts }, zone);
    if (!groups) throw new Error('the sums were asked for');
    return { statements: asked.mock.calls.length, groups };
  } finally {
    asked.mockRestore();
  }
}

test('the start page asks no more statements for many runs than for few', async () => {
  const now = opened.context.now();
  for (const run of await plan(2, now)) await pause(opened.context, run, 'wrong text');
  const few = await readOften();
  for (const run of await plan(25, now)) await pause(opened.context, run, 'wrong text');
  const many = await readOften();
  expect([few.groups.waiting.length, many.groups.waiting.length]).toEqual([2, 27]);
  expect(many.statements).toBe(few.statements);
  expect(many.statements).toBeLessThan(40);
});

test('runs of the last night are those planned in it, of the accounts that the person may see', async () => {
  const { from } = (await readStartPage()).groups.night;
  await plan(3, new Date(from.getTime() + 1_000));
  await plan(1, new Date(from.getTime() - 1_000));
  const night = async (accounts: readonly string[] | null) => (await readStartPage(accounts)).groups.ofNight;
  const before = (await night(null)).filter(({ counts }) => counts.recipients.total === 2).length;
  expect(before).toBeGreaterThanOrEqual(3);
  expect(await night(['other'])).toEqual([]);
});
