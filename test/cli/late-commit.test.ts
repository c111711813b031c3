import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type DispatchScene, openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrTwice } from '../support/expect-dispatched.ts';
import { plannedRun, runIs, statusOf } from '../support/planned-run.ts';
import { accountsYaml } from '../support/workspace.ts';

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
  const untilFound = async (sql: string, values: readonly number[] = []): Promise<void> => {
    while ((await holder.query(sql, [...values])).rowCount === 0) await sleep(10);
  };
  return {
    /** The statement waits that is to write the attempt; a process waits for other advisory locks too, as it starts. */
    attemptWaits: () =>
      untilFound(
        `SELECT FROM pg_locks
         WHERE locktype = 'advisory' AND NOT granted AND objid = $1
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        [attemptLock],
      ),
    /** Another session needs to know what becomes of that statement. */
    othersWait: () =>
      untilFound(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'`,
      ),
    /** Every request is over but those that the statement has changed. */
    async othersAreDone(): Promise<void> {
      const sql = `SELECT FROM request_states WHERE state IN ('planned', 'sending') LIMIT 1 FOR UPDATE SKIP LOCKED`;
      while ((await holder.query(sql)).rowCount !== 0) await sleep(50);
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
  await hold.attemptWaits();
  const from = Date.now();
  started.process.kill('SIGKILL');
  await started.ended;
  return { run, kills: [{ what: 'waiting', from, to: Date.now() }], untilSent: [] };
}

test.concurrent('a claim that is committed long after its process was killed is in doubt in the end, not left as sending', async () => {
  await using scene = await openDispatchScene({ requests: 300, concurrency, peer: { latency: 2 } });
  const hold = await holdAttempts(scene, 'NEW.request = 40');
  const killed = await killedAsItWaits(scene, hold);
  const resumed = scene.start(['resume', killed.run]);
  // By then it has taken the slice over, and sent all others.
  await hold.othersAreDone();
  await hold.letGo();
  const { code, stderr } = await resumed.ended;
  expect(code, stderr).toBe(3);
  await expectNothingLostOrTwice(scene, killed, concurrency);
}, 40_000);

test.concurrent('a next attempt that is committed after its process was killed is in doubt with its request', async () => {
  await using scene = await openDispatchScene({ requests: 100, concurrency, peer: { busy: 0.1 } });
  const hold = await holdAttempts(scene, 'NEW.attempt = 2');
  const killed = await killedAsItWaits(scene, hold);
  const resumed = scene.start(['resume', killed.run]);
  await hold.othersWait();
  await hold.letGo();
  const { code, stderr } = await resumed.ended;
  expect(code, stderr).toBe(3);
  await expectNothingLostOrTwice(scene, killed, concurrency);
}, 40_000);

test.concurrent('a claim that is committed as the run of its killed process is cancelled is in doubt, not left as sending', async () => {
  await using scene = await openDispatchScene({ requests: 300, concurrency, peer: { latency: 2 } });
  const hold = await holdAttempts(scene, 'NEW.request = 40');
  const { run } = await killedAsItWaits(scene, hold);
  // Nobody holds its slice any more when it is cancelled.
  expect((await scene.start(['pause', run]).ended).code).toBe(0);
  const cancelling = scene.start(['cancel', run]);
  await hold.othersWait();
  await hold.letGo();
  expect((await cancelling.ended).code).toBe(0);
  const { requests } = await statusOf(scene, run);
  expect(requests).toMatchObject({ planned: 0, sending: 0 });
  expect(requests.in_doubt).toBeGreaterThan(0);
}, 40_000);

test.concurrent('a doubt is dated after the death of its process, however long the taking over had to wait', async () => {
  const stalled = { latency: 600_000 };
  await using scene = await openDispatchScene({ requests: 60, concurrency, peer: stalled });
  await scene.workspace.write('accounts.yaml', accountsYaml.replace('headers: 5s', 'headers: 300s'));
  const started = scene.start(['run', 'campaign.yaml']);
  const run = await plannedRun(started);
  await scene.peer.hasReceived(concurrency);
  const holder = await scene.ledger.ledger.pool.connect();
  await holder.query("SELECT pg_advisory_lock(hashtextextended('volley slices', 0))");
  const worker = scene.start(['worker']);
  // Both processes look for slices of dead workers, and both for slices in the queue.
  const waiting = `SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  while ((await holder.query(waiting)).rowCount !== 4) await sleep(10);
  await sleep(500);
  const from = Date.now();
  started.process.kill('SIGKILL');
  await started.ended;
  const killed = { what: 'run', from, to: Date.now() };
  scene.peer.behave({ latency: 0 });
  await holder.query("SELECT pg_advisory_unlock(hashtextextended('volley slices', 0))");
  holder.release();
  await runIs(scene, run, 'completed');
  worker.process.kill('SIGTERM');
  await worker.ended;
  const figures = await expectNothingLostOrTwice(scene, { run, kills: [killed], untilSent: [] }, concurrency);
  expect(figures.inDoubt).toBeGreaterThanOrEqual(concurrency);
}, 60_000);
