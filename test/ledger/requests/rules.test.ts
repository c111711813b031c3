import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { acquireSlice } from '../../../src/ledger/slices/acquire.ts';
import { reapDeadWorkers } from '../../../src/ledger/slices/reap.ts';
import { openTestLedger, type TestLedger } from '../../support/ledger.ts';
import { claimRequests, settleRequests, startNextAttempt } from '../../support/requests.ts';
import { outwaitStart } from '../../support/slices.ts';
import type { Mutation } from '../model/operations.ts';
import { parameters, promisesAreKept } from '../model/property.ts';

/**
 * The rules of design.md, "States", are taken out one at a time; the property of `request-model.test.ts` must notice it.
 */
vi.setConfig({ testTimeout: 120_000 });

let opened: TestLedger;
let late: pg.Pool;
beforeAll(async () => {
  opened = await openTestLedger();
  late = new pg.Pool({ connectionString: opened.url, max: 1 });
  await outwaitStart(opened.ledger);
});
afterAll(async () => {
  await late.end();
  await opened.close();
});

/** The property must not hold of a ledger that breaks a rule; and that must be what it says, and no mistake of the test's. */
async function expectFound(mutation: Mutation): Promise<void> {
  const property = promisesAreKept(opened.ledger, mutation);
  const { failed, errorInstance } = await fc.check(property, { ...parameters, numRuns: 200 });
  expect(failed, 'whether the property noticed anything').toBe(true);
  expect(errorInstance, 'what it noticed').toMatchObject({ name: 'AssertionError' });
}

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
  await expectFound(mutation);
});

test('without rule 1, a claim that does not write the attempt is found', async () => {
  const mutation: Mutation = {
    async claimRequests(pool, claims, now) {
      const claimed = await claimRequests(pool, claims, now);
      for (const { run, owner } of claims) {
        await pool.query('DELETE FROM attempts WHERE run_id = $1 AND owner = $2', [run, owner]);
      }
      return claimed;
    },
  };
  await expectFound(mutation);
});

/** Rule 2, the other way round. */
async function planOrphans(pool: pg.Pool): Promise<void> {
  await pool.query(
    `UPDATE requests SET state = 'planned'
     WHERE state = 'in_doubt' AND reason = 'the process that was sending it ended before the answer was recorded'`,
  );
}

test('without rule 2, a request that is planned again because its owner is gone is found', async () => {
  const mutation: Mutation = {
    async acquireSlice(queue, pool, taking) {
      const acquired = await acquireSlice(queue, pool, taking);
      await planOrphans(pool);
      return acquired;
    },
    async reapDeadWorkers(queue, pool, self, now) {
      const reaped = await reapDeadWorkers(queue, pool, self, now);
      await planOrphans(pool);
      return reaped;
    },
  };
  await expectFound(mutation);
});

test('without rule 2, a slice that is taken over with its orphans left as they are is found', async () => {
  const mutation: Mutation = {
    async acquireSlice(queue, pool, taking) {
      const { rows } = await pool.query<Orphan>(
        `SELECT run_id, request, owner FROM requests WHERE state = 'sending'`,
      );
      const acquired = await acquireSlice(queue, pool, taking);
      for (const orphan of rows) await sendOn(pool, orphan);
      return acquired;
    },
  };
  await expectFound(mutation);
});

type Orphan = { readonly run_id: string; readonly request: number; readonly owner: string };

async function sendOn(pool: pg.Pool, { run_id, request, owner }: Orphan): Promise<void> {
  await pool.query(
    `UPDATE requests SET state = 'sending', owner = $3 WHERE run_id = $1 AND request = $2 AND state = 'in_doubt'`,
    [run_id, request, owner],
  );
}

test('without rule 2, a request that is accepted and does not stay so is found', async () => {
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
  await expectFound(mutation);
});

test('without rule 3, a MessageID that changes from attempt to attempt is found', async () => {
  const mutation: Mutation = {
    async startNextAttempt(pool, retry) {
      await pool.query('UPDATE runs SET message_key = sha256(message_key) WHERE run_id = $1', [retry.run]);
      return startNextAttempt(pool, retry);
    },
  };
  await expectFound(mutation);
});
