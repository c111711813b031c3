import type pg from 'pg';
import { expect, test } from 'vitest';
import { createFollower } from '../../../src/engine/events/follow-runs.ts';
import type { RunEvent } from '../../../src/ledger/events/event.ts';
import { compactOutcomes } from '../../../src/ledger/requests/advance.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

/** A run of 100 requests in one slice, and a follower that has looked once. */
async function followNewRun() {
  const contacts = Array.from({ length: 100 }, (_, index) => aContact(index + 1));
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1 }), contacts);
  const look = createFollower(opened.context, { run, since: null, withAddresses: false });
  await look();
  return { run, look: async () => (await look()).events.map(describe) };
}

function describe(event: RunEvent): string {
  switch (event.kind) {
    case 'accepted':
      return `accepted ${event.requests.join(' ')}`;
    case 'attempt':
      return `${event.verdict} ${event.request}`;
    case 'report':
      return `report of ${event.request}: ${event.state}`;
    case 'settled':
      return `${event.state} ${event.request}`;
    case 'resolved':
      return `${event.resolution} ${event.requests.join(' ')}`;
    case 'state':
      return event.state;
  }
}

/** What a test does in a transaction of its own, and commits when it likes. */
type Writer = { readonly client: pg.PoolClient; readonly commit: () => Promise<void> };

async function begin(): Promise<Writer> {
  const client = await opened.ledger.pool.connect();
  await client.query('BEGIN');
  // Gives the transaction its number, as its first change does.
  await client.query('SELECT pg_current_xact_id()');
  return {
    client,
    commit: async () => {
      await client.query('COMMIT');
      client.release();
    },
  };
}

const reject = (client: Pick<pg.PoolClient, 'query'>, run: string, request: number) =>
  client.query(
    `
    WITH counted AS (
      UPDATE slices SET settled = settled + 1, rejected = rejected + 1
      WHERE run_id = $1 AND first_request <= $2 AND last_request >= $2
    )
    INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict, http_status, detail)
    VALUES ($1, $2, 1, gen_random_uuid(), now(), now(), 'rejected', 400, '"HTTP 400"')
    `,
    [run, request],
  );

const receive = async (client: Pick<pg.PoolClient, 'query'>): Promise<string> => {
  const { rows } = await client.query<{ report_id: string }>(
    `
    INSERT INTO inbox_blocks (first_report, calls, bytes, first_received_at, last_received_at, accounts, received_at, methods,
                              content_types, headers, bodies)
    VALUES (nextval('report_ids'), 1, 0, now(), now(), '{sandbox}', ARRAY[now()], '{POST}', '{application/json}',
            ARRAY[json '{}'], ARRAY[bytea ''])
    RETURNING first_report AS report_id
    `,
  );
  return rows[0]?.report_id ?? '';
};

const enqueue = (client: Pick<pg.PoolClient, 'query'>, report: string) =>
  client.query(
    'INSERT INTO inbox_waiting (due_at, first_report, last_report, calls, bytes) VALUES (now(), $1, $1, 1, 0)',
    [report],
  );

const apply = (client: Pick<pg.PoolClient, 'query'>, run: string, request: number, report: string) =>
  client.query(
    `
    WITH dequeued AS (DELETE FROM inbox_waiting WHERE first_report = $3)
    INSERT INTO recipient_outcomes (run_id, request, position, outcome, reported_at, report_id)
    VALUES ($1, $2, 1, 'delivered', now(), $3)
    `,
    [run, request, report],
  );

test('an attempt that is committed after a later one is read, and each is read once', async () => {
  const { run, look } = await followNewRun();
  const { pool } = opened.ledger;
  const slow = await begin();
  // A savepoint has a number of its own, which snapshots do not list.
  await slow.client.query('SAVEPOINT one');
  await pool.query('UPDATE slices SET settled = settled WHERE run_id = $1', [run]);
  await slow.client.query(
    `INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict)
     VALUES ($1, 7, 1, gen_random_uuid(), now(), now(), 'in_doubt')`,
    [run],
  );
  await slow.client.query('RELEASE SAVEPOINT one');
  await reject(pool, run, 8);
  expect(await look()).toEqual(['rejected 8']);
  await reject(pool, run, 9);
  expect(await look()).toEqual(['rejected 9']);
  await slow.client.query('UPDATE slices SET not_accepted = not_accepted + 1 WHERE run_id = $1', [run]);
  await slow.commit();
  expect(await look()).toEqual(['in_doubt 7']);
  expect(await look()).toEqual([]);
});

test('an attempt is read again when a late answer changes its verdict', async () => {
  const { run, look } = await followNewRun();
  const { pool } = opened.ledger;
  await reject(pool, run, 1);
  expect(await look()).toEqual(['rejected 1']);
  await pool.query(
    `
    WITH changed AS (UPDATE attempts SET verdict = 'accepted', http_status = 200 WHERE run_id = $1 AND request = 1)
    UPDATE slices SET not_accepted = not_accepted - 1 WHERE run_id = $1 AND slice = 1
    `,
    [run],
  );
  expect(await look()).toEqual(['accepted 1']);
  expect(await look()).toEqual([]);
});

test('delivery reports that become visible and are applied in another order than they arrived are read once each', async () => {
  const { run, look } = await followNewRun();
  const { pool } = opened.ledger;
  const slow = await begin();
  const first = await receive(slow.client);
  await enqueue(slow.client, first);
  const second = await receive(pool);
  await enqueue(pool, second);
  const third = await receive(pool);
  await apply(pool, run, 3, third);
  expect(await look()).toEqual(['report of 3: applied']);
  await apply(pool, run, 2, second);
  expect(await look()).toEqual(['report of 2: applied']);
  expect(await look()).toEqual([]);
  await slow.commit();
  expect(await look()).toEqual([]);
  await apply(pool, run, 1, first);
  expect(await look()).toEqual(['report of 1: applied']);
  expect(await look()).toEqual([]);
});

test('a report whose number was rolled back is not waited for', async () => {
  const { run, look } = await followNewRun();
  const { pool } = opened.ledger;
  const slow = await begin();
  await receive(slow.client);
  const second = await receive(pool);
  await apply(pool, run, 2, second);
  expect(await look()).toEqual(['report of 2: applied']);
  await slow.client.query('ROLLBACK');
  slow.client.release();
  expect(await look()).toEqual([]);
  await apply(pool, run, 3, await receive(pool));
  expect(await look()).toEqual(['report of 3: applied']);
});

const accept = (run: string, version: number, requests: readonly number[]) =>
  opened.ledger.pool.query(
    `
    WITH moved AS (
      UPDATE slices SET version = $2, claimed_to = greatest(claimed_to, $4), claimed_at = now(), settled = settled + 1
      WHERE run_id = $1 AND slice = 1
    )
    INSERT INTO outcomes (run_id, slice, version, recorded_at, requests, ages_ms, took_ms)
    VALUES ($1, 1, $2, now(), $3, array_fill(5, ARRAY[cardinality($3::integer[])]), array_fill(7, ARRAY[cardinality($3::integer[])]))
    `,
    [run, version, requests, Math.max(...requests)],
  );

test('acceptances are read once, also those recorded and compacted between two looks', async () => {
  const { run, look } = await followNewRun();
  await accept(run, 1, [1, 3]);
  expect(await look()).toEqual(['accepted 1 3']);
  await accept(run, 2, [2]);
  await accept(run, 3, [4, 5]);
  expect(await look()).toEqual(['accepted 2', 'accepted 4 5']);
  await accept(run, 4, [6, 100]);
  await inTransaction(opened.ledger.pool, async (client) => {
    await compactOutcomes(client, run, 1);
    await client.query(`UPDATE slices SET state = 'done' WHERE run_id = $1 AND slice = 1`, [run]);
  });
  expect(await look()).toEqual(['accepted 6 100']);
  expect(await look()).toEqual([]);
});

test('a look that fails changes nothing, so the next one reads the same', async () => {
  const { run, look } = await followNewRun();
  await reject(opened.ledger.pool, run, 1);
  const lock = await begin();
  await lock.client.query('LOCK TABLE resolutions IN ACCESS EXCLUSIVE MODE');
  await expect(look()).rejects.toThrow('timeout');
  await lock.commit();
  expect(await look()).toEqual(['rejected 1']);
});

test('a change of one of thousands of slices is read', async () => {
  const { run, look } = await followNewRun();
  const { pool } = opened.ledger;
  await pool.query(
    `
    INSERT INTO slices (run_id, slice, phase, first_request, last_request, state, claimed_to)
    SELECT $1, n, 'sending', n * 2000, n * 2000 + 1999, 'done', n * 2000 + 1999 FROM generate_series(10, 5000) AS n
    `,
    [run],
  );
  await pool.query('ANALYZE slices');
  await look();
  await reject(pool, run, 5);
  expect(await look()).toEqual(['rejected 5']);
});
