import pg from 'pg';
import { afterAll, beforeAll, test } from 'vitest';
import { advanceSlices } from '../../../src/ledger/requests/advance.ts';
import { acquireSlice } from '../../../src/ledger/slices/acquire.ts';
import { reclaimSlicesOfEndedWorkers } from '../../../src/ledger/slices/reclaim.ts';
import { claimRequests, settleRequests, startNextAttempt } from '../../support/requests.ts';
import { waitAfterServerStart } from '../../support/slices.ts';
import { testLedger } from '../../support/test-ledger.ts';
import {
  anotherWorkerReclaims,
  answerIsRecorded,
  expectNoticed,
  expectNoticedInHistory,
  workerHasRead,
} from '../model/broken-rules.ts';
import type { Mutation } from '../model/operations.ts';
import { suppress } from '../model/operator-steps.ts';
import { claimRead } from '../model/range-steps.ts';
import { send } from '../model/request-steps.ts';
import type { Step } from '../model/step.ts';

/** The property of `request-model.whole.ts` must fail for each mutation, which breaks one rule of docs/architecture.md, "States". */
const opened = testLedger();
let latePool: pg.Pool;
beforeAll(async () => {
  latePool = new pg.Pool({ connectionString: opened.url, max: 1 });
  await waitAfterServerStart(opened.ledger);
});
afterAll(async () => {
  await latePool.end();
});

const expectNoticedFrom = (seed: number, mutation: Mutation): Promise<void> =>
  expectNoticed(opened.ledger, seed, mutation);
const expectNoticedIn = (steps: readonly Step[], mutation: Mutation): Promise<void> =>
  expectNoticedInHistory(opened.ledger, steps, mutation);

test('the model notices a claim that is committed after the first byte was sent (rule 1)', async () => {
  let begun = false;
  const end = async (command: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
    if (begun) await latePool.query(command);
    begun = false;
  };
  const mutation: Mutation = {
    async claimRequests(_, claims, options) {
      if (!begun) await latePool.query('BEGIN');
      begun = true;
      return claimRequests(latePool, claims, options);
    },
    afterSending: () => end('COMMIT'),
    beforeClosing: () => end('ROLLBACK'),
  };
  await expectNoticedFrom(3, mutation);
});

test('the model notices a claim whose range is not stored (rule 1)', async () => {
  const deleteClaims = async (pool: pg.Pool, run: string): Promise<void> => {
    await pool.query(
      `UPDATE slices SET claimed_to = first_request - 1 WHERE run_id = $1 AND phase = 'sending' AND state = 'held'`,
      [run],
    );
  };
  await expectNoticedFrom(2, {
    async advanceSlices(pool, advances, now, fence) {
      const advanced = await advanceSlices(pool, advances, now, fence);
      for (const { run } of advances) await deleteClaims(pool, run);
      return advanced;
    },
    async claimRequests(pool, claims, options) {
      const claimed = await claimRequests(pool, claims, options);
      for (const { run } of claims) await deleteClaims(pool, run);
      return claimed;
    },
  });
});

test('the model notices a claim of a request with a row that stores no attempt (rule 1)', async () => {
  const mutation: Mutation = {
    async claimRequests(pool, claims, options) {
      const claimed = await claimRequests(pool, claims, options);
      for (const { run, owner } of claims) {
        await pool.query('DELETE FROM attempts WHERE run_id = $1 AND owner = $2', [run, owner]);
      }
      return claimed;
    },
  };
  await expectNoticedFrom(2, mutation);
});

/** Changes the ledger after each acquisition and reclaim. */
function afterReclaim(change: (pool: pg.Pool) => Promise<unknown>): Mutation {
  return {
    async acquireSlice(queue, pool, options) {
      const acquired = await acquireSlice(queue, pool, options);
      await change(pool);
      return acquired;
    },
    async reclaimSlicesOfEndedWorkers(queue, pool, self, now) {
      const reclaimed = await reclaimSlicesOfEndedWorkers(queue, pool, self, now);
      await change(pool);
      return reclaimed;
    },
  };
}

const leftByEndedWorker = `state = 'in_doubt' AND reason ->> 'kind' = 'worker_ended'`;

test('the model notices a request with a row that is planned again because its owner ended (rule 2)', async () => {
  await expectNoticedFrom(
    2,
    afterReclaim((pool) => pool.query(`UPDATE requests SET state = 'planned' WHERE ${leftByEndedWorker}`)),
  );
});

test('the model notices a reclaim that leaves claimed and unrecorded requests planned (rule 2)', async () => {
  await expectNoticedFrom(
    5,
    afterReclaim((pool) =>
      pool.query(
        `
        WITH lost AS (
          DELETE FROM requests WHERE ${leftByEndedWorker} AND attempts = 1 RETURNING run_id, request
        ), attempt AS (
          DELETE FROM attempts a USING lost l WHERE a.run_id = l.run_id AND a.request = l.request
        )
        UPDATE slices s
        SET claimed_to = least(s.claimed_to, l.lowest - 1)
        FROM (
          SELECT s.run_id, s.slice, min(l.request) AS lowest
          FROM lost l
          JOIN slices s ON s.run_id = l.run_id
            AND l.request BETWEEN s.first_request AND s.last_request
          GROUP BY s.run_id, s.slice
        ) l
        WHERE s.run_id = l.run_id AND s.slice = l.slice
        `,
      ),
    ),
  );
});

test('the model notices a reclaim that leaves requests of the former owner sending (rule 2)', async () => {
  const mutation: Mutation = {
    async acquireSlice(queue, pool, options) {
      const { rows } = await pool.query<UnrecordedRequest>(
        `SELECT q.run_id, q.request, s.owner
         FROM request_states q
         JOIN slices s ON s.run_id = q.run_id
           AND q.request BETWEEN s.first_request AND s.last_request
         WHERE q.state = 'sending'`,
      );
      const acquired = await acquireSlice(queue, pool, options);
      for (const request of rows) await markSending(pool, request);
      return acquired;
    },
  };
  await expectNoticedFrom(2, mutation);
});

type UnrecordedRequest = { readonly run_id: string; readonly request: number; readonly owner: string };

async function markSending(pool: pg.Pool, { run_id, request, owner }: UnrecordedRequest): Promise<void> {
  await pool.query(
    `UPDATE requests SET state = 'sending', owner = $3 WHERE run_id = $1 AND request = $2 AND state = 'in_doubt'`,
    [run_id, request, owner],
  );
}

type SliceRow = {
  readonly run_id: string;
  readonly slice: number;
  readonly owner: string | null;
  readonly version: number;
  readonly claimed_to: number | null;
};

async function rowFinder(pool: pg.Pool) {
  const { rows } = await pool.query<SliceRow>('SELECT run_id, slice, owner, version, claimed_to FROM slices');
  return (of: { readonly run: string; readonly slice: number }): SliceRow | undefined =>
    rows.find(({ run_id, slice }) => run_id === of.run && slice === of.slice);
}

test('the model notices a claim of a range that the owner does not fence (rule 2)', async () => {
  await expectNoticedIn([...workerHasRead, ...anotherWorkerReclaims, claimRead(0, 3, 'acknowledged')], {
    async advanceSlices(pool, advances, now, fence) {
      const rowOf = await rowFinder(pool);
      const unfenced = advances.map((advance) => ({
        ...advance,
        owner: rowOf(advance)?.owner ?? advance.owner,
      }));
      return advanceSlices(pool, unfenced, now, fence);
    },
  });
});

test('the model notices a repeated claim of a range that ignores later changes (rule 2)', async () => {
  await expectNoticedFrom(5, {
    async advanceSlices(pool, advances, now, fence) {
      const rowOf = await rowFinder(pool);
      const next = advances.map(({ claim, ...advance }) => {
        const row = rowOf(advance);
        const after = row?.claimed_to ?? 0;
        return { ...advance, version: (row?.version ?? 0) + 1, claim: claim && { ...claim, after } };
      });
      return advanceSlices(pool, next, now, fence);
    },
  });
});

test('the model notices a claim that ignores suppressions newer than its epoch', async () => {
  await expectNoticedIn([...workerHasRead, suppress(0, 0), claimRead(0, 3, 'acknowledged')], {
    async advanceSlices(pool, advances, now, fence) {
      const { rows } = await pool.query<{ epoch: string }>('SELECT epoch FROM suppression_epoch');
      const unchecked = advances.map(({ claim, ...others }) => {
        const isReturn = claim?.epoch === '0';
        return { ...others, claim: claim && !isReturn ? { ...claim, epoch: rows[0]?.epoch ?? '' } : claim };
      });
      return advanceSlices(pool, unchecked, now, fence);
    },
  });
});

test('the model notices a request with a row that is accepted and later changed (rule 2)', async () => {
  const mutation: Mutation = {
    async settleRequests(pool, settlements) {
      const settled = await settleRequests(pool, settlements);
      for (const { run, request, state } of settlements) {
        await pool.query(
          `UPDATE requests SET state = $3 WHERE run_id = $1 AND request = $2 AND state = 'accepted'`,
          [run, request, state],
        );
      }
      return settled;
    },
  };
  await expectNoticedFrom(11, mutation);
});

test('the model notices a recorded acceptance that is deleted (rule 2)', async () => {
  await expectNoticedFrom(14, {
    async acquireSlice(queue, pool, options) {
      await pool.query('DELETE FROM outcomes');
      return acquireSlice(queue, pool, options);
    },
  });
});

test('the model notices a former owner that records an answer (rule 2)', async () => {
  await expectNoticedIn(
    [
      ...workerHasRead,
      claimRead(0, 1, 'acknowledged'),
      send(0, 'accepted', true),
      ...anotherWorkerReclaims,
      answerIsRecorded,
    ],
    {
      async settleRequests(pool, settlements) {
        const { rows } = await pool.query<{ run_id: string; slice: number; owner: string | null }>(
          'SELECT run_id, slice, owner FROM slices',
        );
        const unfenced = settlements.map((settlement) => {
          const { run, slice } = settlement;
          const held = rows.find((each) => each.run_id === run && each.slice === slice);
          return { ...settlement, owner: held?.owner ?? settlement.owner };
        });
        return settleRequests(pool, unfenced);
      },
    },
  );
});

test('the model notices a MessageID that changes from attempt to attempt (rule 3)', async () => {
  const mutation: Mutation = {
    async startNextAttempt(pool, retry) {
      await pool.query('UPDATE runs SET message_key = sha256(message_key) WHERE run_id = $1', [retry.run]);
      return startNextAttempt(pool, retry);
    },
  };
  await expectNoticedFrom(3, mutation);
});
