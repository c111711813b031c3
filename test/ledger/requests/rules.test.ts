import pg from 'pg';
import { afterAll, beforeAll, test } from 'vitest';
import { advanceSlices } from '../../../src/ledger/requests/advance.ts';
import { acquireSlice } from '../../../src/ledger/slices/acquire.ts';
import { reclaimSlicesOfEndedWorkers } from '../../../src/ledger/slices/reclaim.ts';
import { openTestLedger, type TestLedger } from '../../support/ledger.ts';
import { claimRequests, settleRequests, startNextAttempt } from '../../support/requests.ts';
import { waitAfterServerStart } from '../../support/slices.ts';
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

/**
 * The rules of design.md, "States", are taken out one at a time; the property of `request-model.test.ts` must notice it.
 */
let opened: TestLedger;
let late: pg.Pool;
beforeAll(async () => {
  opened = await openTestLedger();
  late = new pg.Pool({ connectionString: opened.url, max: 1 });
  await waitAfterServerStart(opened.ledger);
});
afterAll(async () => {
  await late.end();
  await opened.close();
});

const expectNoticedFrom = (seed: number, mutation: Mutation): Promise<void> =>
  expectNoticed(opened.ledger, seed, mutation);
const expectNoticedIn = (steps: readonly Step[], mutation: Mutation): Promise<void> =>
  expectNoticedInHistory(opened.ledger, steps, mutation);

test('without rule 1, a claim that is committed only after the first byte has left is found', async () => {
  let begun = false;
  const end = async (word: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
    if (begun) await late.query(word);
    begun = false;
  };
  const mutation: Mutation = {
    async claimRequests(_, claims, now) {
      if (!begun) await late.query('BEGIN');
      begun = true;
      return claimRequests(late, claims, now);
    },
    afterSending: () => end('COMMIT'),
    beforeClosing: () => end('ROLLBACK'),
  };
  await expectNoticedFrom(3, mutation);
});

test('without rule 1, a claim whose range is not written is found', async () => {
  const forget = async (pool: pg.Pool, run: string): Promise<void> => {
    await pool.query(
      `UPDATE slices SET claimed_to = first_request - 1 WHERE run_id = $1 AND phase = 'sending' AND state = 'held'`,
      [run],
    );
  };
  await expectNoticedFrom(2, {
    async advanceSlices(pool, advances, now, fence) {
      const advanced = await advanceSlices(pool, advances, now, fence);
      for (const { run } of advances) await forget(pool, run);
      return advanced;
    },
    async claimRequests(pool, claims, now) {
      const claimed = await claimRequests(pool, claims, now);
      for (const { run } of claims) await forget(pool, run);
      return claimed;
    },
  });
});

test('without rule 1, a claim of a request with a row that does not write the attempt is found', async () => {
  const mutation: Mutation = {
    async claimRequests(pool, claims, now) {
      const claimed = await claimRequests(pool, claims, now);
      for (const { run, owner } of claims) {
        await pool.query('DELETE FROM attempts WHERE run_id = $1 AND owner = $2', [run, owner]);
      }
      return claimed;
    },
  };
  await expectNoticedFrom(2, mutation);
});

/** By those who look at the slices of others, after they have. */
function afterReclaim(change: (pool: pg.Pool) => Promise<unknown>): Mutation {
  return {
    async acquireSlice(queue, pool, taking) {
      const acquired = await acquireSlice(queue, pool, taking);
      await change(pool);
      return acquired;
    },
    async reclaimSlicesOfEndedWorkers(queue, pool, self, now) {
      const reaped = await reclaimSlicesOfEndedWorkers(queue, pool, self, now);
      await change(pool);
      return reaped;
    },
  };
}

const leftByEndedWorker = `state = 'in_doubt' AND reason ->> 'kind' = 'worker_ended'`;

test('without rule 2, a request with a row that is planned again because its owner is gone is found', async () => {
  await expectNoticedFrom(
    2,
    afterReclaim((pool) => pool.query(`UPDATE requests SET state = 'planned' WHERE ${leftByEndedWorker}`)),
  );
});

test('without rule 2, what was claimed and not noted is found when a takeover leaves it planned', async () => {
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

test('without rule 2, a slice that is taken over with its orphans left as they are is found', async () => {
  const mutation: Mutation = {
    async acquireSlice(queue, pool, taking) {
      const { rows } = await pool.query<UnrecordedRequest>(
        `SELECT q.run_id, q.request, s.owner
         FROM request_states q
         JOIN slices s ON s.run_id = q.run_id
           AND q.request BETWEEN s.first_request AND s.last_request
         WHERE q.state = 'sending'`,
      );
      const acquired = await acquireSlice(queue, pool, taking);
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

/** The row of the slice that a change is of, as it is now. */
async function rowFinder(pool: pg.Pool) {
  const { rows } = await pool.query<SliceRow>('SELECT run_id, slice, owner, version, claimed_to FROM slices');
  return (of: { readonly run: string; readonly slice: number }): SliceRow | undefined =>
    rows.find(({ run_id, slice }) => run_id === of.run && slice === of.slice);
}

test('without rule 2, a claim of a range that is not fenced by the owner is found', async () => {
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

test('without rule 2, a claim of a range that is repeated, and made on top of what came since, is found', async () => {
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

test('without the epoch, a claim for which no newer suppression was looked at is found', async () => {
  await expectNoticedIn([...workerHasRead, suppress(0, 0), claimRead(0, 3, 'acknowledged')], {
    async advanceSlices(pool, advances, now, fence) {
      const { rows } = await pool.query<{ epoch: string }>('SELECT epoch FROM suppression_epoch');
      const unlooked = advances.map(({ claim, ...others }) => {
        const isBack = claim?.epoch === '0';
        return { ...others, claim: claim && !isBack ? { ...claim, epoch: rows[0]?.epoch ?? '' } : claim };
      });
      return advanceSlices(pool, unlooked, now, fence);
    },
  });
});

test('without rule 2, a request with a row that is accepted and does not stay so is found', async () => {
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

test('without rule 2, a request that was noted as accepted and does not stay so is found', async () => {
  await expectNoticedFrom(14, {
    async acquireSlice(queue, pool, taking) {
      await pool.query('DELETE FROM outcomes');
      return acquireSlice(queue, pool, taking);
    },
  });
});

test('without rule 2, an answer that its owner records when the slice is not its own any more is found', async () => {
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

test('without rule 3, a MessageID that changes from attempt to attempt is found', async () => {
  const mutation: Mutation = {
    async startNextAttempt(pool, retry) {
      await pool.query('UPDATE runs SET message_key = sha256(message_key) WHERE run_id = $1', [retry.run]);
      return startNextAttempt(pool, retry);
    },
  };
  await expectNoticedFrom(3, mutation);
});
