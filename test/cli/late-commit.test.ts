import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type DispatchScene, openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrTwice } from '../support/expect-dispatched.ts';
import { plannedRun, statusOf } from '../support/planned-run.ts';

/** Any number that Volley itself does not lock. */
const attemptLock = 20_261_122;
const concurrency = 4;

/**
 * Makes the statement wait that writes an attempt of a certain kind. A process can die meanwhile: Postgres does not
 * notice before the statement is done, and commits it.
 *
 * @param condition SQL on the row `NEW` of attempts
 */
async function holdAttempts({ ledger: { ledger } }: DispatchScene, condition: string) {
  await ledger.pool.query(`
    CREATE FUNCTION wait_for_attempt() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${attemptLock}); RETURN NEW; END $$;
    CREATE TRIGGER wait_for_attempt BEFORE INSERT ON attempts
      FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION wait_for_attempt();
  `);
  const holder = await ledger.pool.connect();
  await holder.query(`SELECT pg_advisory_lock(${attemptLock})`);
  return {
    async somebodyWaits(): Promise<void> {
      const sql = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${attemptLock} AND NOT granted`;
      while ((await holder.query(sql)).rowCount === 0) await sleep(10);
    },
    async letGo(): Promise<void> {
      await holder.query(`SELECT pg_advisory_unlock(${attemptLock})`);
      holder.release();
    },
  };
}

/** A process of the run's, killed as it waits for its attempt to be written. */
async function killedAsItWaits(scene: DispatchScene, hold: Awaited<ReturnType<typeof holdAttempts>>) {
  const started = scene.start(['run', 'campaign.yaml']);
  const run = await plannedRun(started);
  await hold.somebodyWaits();
  const from = Date.now();
  started.process.kill('SIGKILL');
  await started.ended;
  return { run, kills: [{ what: 'waiting', from, to: Date.now() }], untilSent: [] };
}

test('a claim that is committed long after its process was killed is in doubt in the end, not left as sending', async () => {
  await using scene = await openDispatchScene({ requests: 300, concurrency, peer: { latency: 2 } });
  const hold = await holdAttempts(scene, 'NEW.request = 40');
  const killed = await killedAsItWaits(scene, hold);
  const resumed = scene.start(['resume', killed.run]);
  // By then it has taken the slice over, and will not do so again.
  await scene.peer.hasReceived(150);
  await hold.letGo();
  const { code, stderr } = await resumed.ended;
  expect(code, stderr).toBe(3);
  await expectNothingLostOrTwice(scene, killed, concurrency);
}, 40_000);

test('a next attempt that is committed after its process was killed is in doubt with its request', async () => {
  await using scene = await openDispatchScene({ requests: 100, concurrency, peer: { busy: 0.1 } });
  const hold = await holdAttempts(scene, 'NEW.attempt = 2');
  const killed = await killedAsItWaits(scene, hold);
  const resumed = scene.start(['resume', killed.run]);
  await sleep(1_000);
  await hold.letGo();
  const { code, stderr } = await resumed.ended;
  expect(code, stderr).toBe(3);
  await expectNothingLostOrTwice(scene, killed, concurrency);
}, 40_000);

test('a claim that is committed as the run of its killed process is cancelled is in doubt, not left as sending', async () => {
  await using scene = await openDispatchScene({ requests: 300, concurrency, peer: { latency: 2 } });
  const hold = await holdAttempts(scene, 'NEW.request = 40');
  const { run } = await killedAsItWaits(scene, hold);
  // Nobody holds its slice any more when it is cancelled.
  expect((await scene.start(['pause', run]).ended).code).toBe(0);
  const cancelling = scene.start(['cancel', run]);
  await sleep(1_000);
  await hold.letGo();
  expect((await cancelling.ended).code).toBe(0);
  const { requests } = await statusOf(scene, run);
  expect(requests).toMatchObject({ planned: 0, sending: 0 });
  expect(requests.in_doubt).toBeGreaterThan(0);
}, 40_000);
