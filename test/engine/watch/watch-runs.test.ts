import { beforeEach, describe, expect, test } from 'vitest';
import { watchRuns } from '../../../src/engine/watch/watch-runs.ts';
import { listDecisions } from '../../../src/ledger/watch/decisions.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { useSlicedLedger } from '../../support/sliced-ledger.ts';
import {
  acquireSendingSlice,
  beginSliced,
  claimFrom,
  finishHeld,
  slicePlanOf,
  sliceStates,
} from '../../support/slices.ts';

const opened = useSlicedLedger();
const start = Date.parse('2026-11-27T08:00Z');
const observe = 30_000;

let run = '';

/** Its canary has two requests, and no delivery report comes. */
beforeEach(async () => {
  const canary = {
    recipients: { kind: 'number', recipients: 2 } as const,
    observe,
    promote: 'auto',
    abort: { rejected: 0.5 },
  };
  const definition = { dispatch: { concurrency: 4, retries: 0 }, canary };
  run = await planContacts(
    opened.ledger,
    aRun({
      account: 'main',
      chunkSize: 1,
      definition,
      canary: { campaign: 'test', size: canary.recipients },
      isWatched: true,
    }),
    Array.from({ length: 6 }, (_, index) => aContact(index + 2)),
  );
  await beginSliced(opened.ledger, run);
});

async function sendCanary(): Promise<void> {
  const held = await acquireSendingSlice(opened.ledger);
  await claimFrom(opened.ledger, held, 2);
  await finishHeld(opened.ledger, held);
  await opened.ledger.pool.query(`UPDATE requests SET state = 'accepted' WHERE run_id = $1`, [run]);
}

/** Looks after so many seconds by the clock of Postgres. @param now by the clock of the worker */
async function look(
  seconds = 1,
  ignoredAccounts: readonly string[] = [],
  now = new Date(start),
): Promise<void> {
  await opened.ledger.pool.query(
    'UPDATE run_watches SET looked_at = looked_at - make_interval(secs => $2) WHERE run_id = $1',
    [run, seconds],
  );
  const context = { ledger: opened.ledger, now: () => now };
  await watchRuns(context, await opened.ledger.queue(), ignoredAccounts, async () => slicePlanOf(run));
}

/** First that of the phase that settles doubts. */
const states = () => sliceStates(opened.ledger, run);
const observed = async () =>
  Number(
    (await opened.ledger.pool.query('SELECT observed_ms FROM run_watches WHERE run_id = $1', [run])).rows[0]
      .observed_ms,
  );
const decisions = async () => (await listDecisions(opened.ledger.pool, run)).map(({ kind }) => kind);

describe('a look at a run with a canary', () => {
  test('counts no time before the canary is sent', async () => {
    for (let count = 0; count < 10; count++) await look(10);
    expect(await observed()).toBe(0);
    expect(await states()).toEqual(['waiting', 'queued', 'unpromoted']);
  });

  test('promotes the run once it was observed for as long as the campaign says', async () => {
    await sendCanary();
    await look();
    for (let count = 0; count < 3; count++) await look(9);
    expect(await states()).toEqual(['waiting', 'done', 'unpromoted']);
    await look(9);
    expect(await states()).toEqual(['waiting', 'done', 'queued']);
    expect(await decisions()).toEqual(['canary promoted']);
    await look();
    expect(await decisions()).toEqual(['canary promoted']);
  });

  test('counts at most ten seconds, whatever the clock says', async () => {
    await sendCanary();
    await look();
    await look(8 * 3_600);
    await look(-8 * 3_600);
    expect(await observed()).toBe(10_000);
    expect(await decisions()).toEqual([]);
  });

  test('is not made twice within a second', async () => {
    await sendCanary();
    await look();
    await Promise.all([look(5), look(0), look(0)]);
    expect(await observed()).toBeGreaterThanOrEqual(5_000);
    expect(await observed()).toBeLessThan(9_000);
  });

  test('counts the time that passes, however much the clocks of two workers differ', async () => {
    await sendCanary();
    await look();
    for (let count = 0; count < 4; count++) {
      await look(1, [], new Date(start));
      await look(1, [], new Date(start + 3_600_000));
    }
    expect(await observed()).toBeGreaterThanOrEqual(8_000);
    expect(await observed()).toBeLessThan(15_000);
    expect(await decisions()).toEqual([]);
  });

  test('is not made without the account, of a paused run, or while the ledger is on hold', async () => {
    await sendCanary();
    await look();
    await look(5, ['main']);
    await opened.ledger.pool.query(
      `UPDATE ledger_location SET held_at = now(), held_reason = '{"kind": "being_restored", "words": "disk lost"}'`,
    );
    await look(5);
    await opened.ledger.pool.query('UPDATE ledger_location SET held_at = NULL, held_reason = NULL');
    await opened.ledger.pool.query(`UPDATE runs SET state = 'paused' WHERE run_id = $1`, [run]);
    await look(5);
    expect(await observed()).toBe(0);
  });
});
