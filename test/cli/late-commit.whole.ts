import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type DispatchScene, openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrDuplicated } from '../support/expect-dispatched.ts';
import { plannedRun, statusOf, waitForRunState } from '../support/planned-run.ts';
import { accountsYaml } from '../support/workspace.ts';

/** An advisory lock that Volley does not use. */
const statementLock = 20_261_122;
const concurrency = 4;

/** Conditions on the row `NEW` that identify a statement of a worker. */
const claimOfRange = {
  before: 'UPDATE ON slices',
  when: 'NEW.claimed_to >= 40 AND OLD.claimed_to < 40',
};
const nextAttempt = { before: 'INSERT ON attempts', when: 'NEW.attempt = 2' };

/**
 * Makes such a statement wait, so that its process can be killed. Postgres notices only after the statement, and
 * commits it.
 */
async function holdStatement(
  { ledger: { ledger } }: DispatchScene,
  { before, when }: { readonly before: string; readonly when: string },
) {
  await ledger.pool.query(`
    CREATE FUNCTION wait_for_lock() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${statementLock}); RETURN NEW; END $$;
    CREATE TRIGGER wait_for_lock BEFORE ${before}
      FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION wait_for_lock();
  `);
  const holder = await ledger.pool.connect();
  await holder.query(`SELECT pg_advisory_lock(${statementLock})`);
  const untilFound = async (sql: string, values: readonly number[] = []): Promise<void> => {
    while ((await holder.query(sql, [...values])).rowCount === 0) await sleep(10);
  };
  return {
    /** A starting process waits for other advisory locks too. */
    statementWaits: () =>
      untilFound(
        `SELECT FROM pg_locks
         WHERE locktype = 'advisory' AND NOT granted AND objid = $1
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        [statementLock],
      ),
    othersWait: () =>
      untilFound(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'`,
      ),
    async letGo(): Promise<void> {
      await holder.query(`SELECT pg_advisory_unlock(${statementLock})`);
      holder.release();
    },
  };
}

/** Kills a process of the run while its statement waits. */
async function killedAsItWaits(scene: DispatchScene, hold: Awaited<ReturnType<typeof holdStatement>>) {
  const started = scene.start(['run', 'campaign.yaml']);
  const run = await plannedRun(started);
  await hold.statementWaits();
  const from = Date.now();
  started.process.kill('SIGKILL');
  await started.ended;
  return { run, kills: [{ what: 'waiting', from, to: Date.now() }], timesToFirstRequest: [] };
}

test.concurrent('a claim that is committed long after its process was killed ends in doubt, not as sending', async () => {
  await using scene = await openDispatchScene({ requests: 300, concurrency, peer: { latency: 2 } });
  const hold = await holdStatement(scene, claimOfRange);
  const killed = await killedAsItWaits(scene, hold);
  const resumed = scene.startHere(['resume', killed.run]);
  // The slice of the ended worker cannot be reclaimed before the claim has ended.
  await sleep(1_500);
  await hold.letGo();
  const { code, stderr } = await resumed.ended;
  expect(code, stderr).toBe(3);
  await expectNothingLostOrDuplicated(scene, killed, concurrency);
});

test.concurrent('a further attempt that is committed after its process was killed is in doubt with its request', async () => {
  await using scene = await openDispatchScene({ requests: 100, concurrency, peer: { busy: 0.1 } });
  const hold = await holdStatement(scene, nextAttempt);
  const killed = await killedAsItWaits(scene, hold);
  const resumed = scene.startHere(['resume', killed.run]);
  await hold.othersWait();
  await hold.letGo();
  const { code, stderr } = await resumed.ended;
  expect(code, stderr).toBe(3);
  await expectNothingLostOrDuplicated(scene, killed, concurrency);
});

test.concurrent('a claim that is committed while the run of its killed process is cancelled is in doubt, not sending', async () => {
  await using scene = await openDispatchScene({ requests: 300, concurrency, peer: { latency: 2 } });
  const hold = await holdStatement(scene, claimOfRange);
  const { run } = await killedAsItWaits(scene, hold);
  const cancelling = scene.startHere(['cancel', run]);
  await waitForRunState(scene, run, 'cancelled');
  await hold.letGo();
  expect((await cancelling.ended).code).toBe(0);
  const { requests } = await statusOf(scene, run);
  expect(requests).toMatchObject({ planned: 0, sending: 0 });
  expect(requests.in_doubt).toBeGreaterThan(0);
});

test.concurrent('a request in doubt is dated after the death of its process, however late its slice is reclaimed', async () => {
  const stalled = { latency: 600_000 };
  await using scene = await openDispatchScene({ requests: 60, concurrency, peer: stalled });
  await scene.workspace.write('accounts.yaml', accountsYaml.replace('headers: 5s', 'headers: 300s'));
  const started = scene.start(['run', 'campaign.yaml']);
  const run = await plannedRun(started);
  await scene.peer.hasReceived(concurrency);
  const holder = await scene.ledger.ledger.pool.connect();
  await holder.query("SELECT pg_advisory_lock(hashtextextended('volley slices', 0))");
  const worker = scene.start(['worker']);
  // Both processes look for slices of ended workers and for slices in the queue.
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
  await waitForRunState(scene, run, 'completed');
  worker.process.kill('SIGTERM');
  await worker.ended;
  const figures = await expectNothingLostOrDuplicated(
    scene,
    { run, kills: [killed], timesToFirstRequest: [] },
    concurrency,
  );
  expect(figures.inDoubt).toBeGreaterThanOrEqual(concurrency);
});
