import { beforeEach, describe, expect, test } from 'vitest';
import type { Channel } from '../../../src/domain/message.ts';
import type { RequestState } from '../../../src/domain/runs.ts';
import { cancel } from '../../../src/engine/runs/stop-run.ts';
import { decideContacts } from '../../../src/ledger/planning/decide.ts';
import { expandRun } from '../../../src/ledger/planning/expand.ts';
import type { FrequencyCap, PlannedRun } from '../../../src/ledger/planning/planned-run.ts';
import { stageContacts } from '../../../src/ledger/planning/stage-contacts.ts';
import { inOwnSession, inSession, inTransactionOf } from '../../../src/ledger/session.ts';
import { claimRequests, settleRequests } from '../../support/claims.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { rejectedContactsOf } from '../../support/rejected-contacts.ts';
import { createAllRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
beforeEach(() => emptyLedger(opened.ledger.pool));

const owner = '00000000-0000-4000-8000-000000000001';
const day = 86_400_000;
const ago = (milliseconds: number): Date => new Date(Date.now() - milliseconds);

function aCap(changes: Partial<Extract<FrequencyCap, { kind: 'over_frequency' }>> = {}): FrequencyCap {
  return {
    kind: 'over_frequency',
    of: 'account',
    campaign: null,
    account: 'sandbox',
    channels: ['sms'],
    most: 1,
    milliseconds: 7 * day,
    since: ago(7 * day),
    ...changes,
  };
}

const contactsAt = (...lines: number[]) => lines.map((line) => aContact(line));

const plan = (lines: readonly number[], changes: Partial<PlannedRun> = {}): Promise<string> =>
  planContacts(opened.ledger, aRun({ chunkSize: 1, ...changes }), contactsAt(...lines));

/** Rows that a run under these caps leaves out, with the reason. */
async function leftOut(
  lines: readonly number[],
  frequencyCaps: readonly FrequencyCap[],
  changes: Partial<PlannedRun> = {},
): Promise<string[]> {
  const run = await plan(lines, { frequencyCaps, ...changes });
  const rejected = await rejectedContactsOf(opened.ledger.pool, run);
  await cancel(opened.context, run, 'wrong list');
  return rejected.map(({ line, reason, detail }) => `${line} ${reason}: ${detail}`);
}

type Settled = Extract<RequestState, 'accepted' | 'rejected' | 'failed' | 'in_doubt'>;

/** A request of one contact each, from line 2 on, in these states; `sending` ones come last. */
async function runWith(
  states: readonly (Settled | 'sending')[],
  changes: Partial<PlannedRun> = {},
): Promise<string> {
  const { pool } = opened.ledger;
  const run = await plan(
    states.map((_, index) => index + 2),
    changes,
  );
  await claimRequests(pool, { run, owner, limit: states.length, now: new Date() });
  const settlements = states.flatMap((state, index) =>
    state === 'sending'
      ? []
      : [{ request: index + 1, attempt: 1, finishedAt: new Date(), httpStatus: null, detail: null, state }],
  );
  await settleRequests(pool, run, owner, settlements);
  return run;
}

describe('an address gets no more messages than the cap allows', () => {
  test('messages count that are accepted, being sent, in doubt or planned', async () => {
    const run = await runWith(['accepted', 'rejected', 'failed', 'in_doubt', 'sending']);
    const planned = await plan([8]);
    const beyond = 'suppressed: would get more than 1 message within 7d (frequency of the account)';
    expect(await leftOut([2, 3, 4, 5, 6, 8, 9], [aCap()])).toEqual([
      `2 ${beyond}, the latest by run ${run}`,
      `5 ${beyond}, the latest by run ${run}`,
      `6 ${beyond}, the latest by run ${run}`,
      `8 ${beyond}, the latest by run ${planned}`,
    ]);
  });

  test('a message is sent until there are as many as the cap allows, over all campaigns', async () => {
    const cap = aCap({ most: 3 });
    await plan([2, 3], { campaign: 'one' });
    await runWith(['accepted'], { campaign: 'two' });
    expect(await leftOut([2, 3], [cap])).toEqual([]);
    const third = await plan([2], { campaign: 'three' });
    expect(await leftOut([2, 3], [cap])).toEqual([
      `2 suppressed: would get more than 3 messages within 7d (frequency of the account), the latest by run ${third}`,
    ]);
  });

  test('a cap of an account counts its own messages, and one of the project those of all accounts', async () => {
    await plan([2], { account: 'another' });
    expect(await leftOut([2], [aCap()])).toEqual([]);
    expect(await leftOut([2], [aCap({ of: 'project', account: null })])).toEqual([
      '2 suppressed: would get more than 1 message within 7d (frequency of the project)',
    ]);
  });

  test('a phone number is one address in all channels of the cap, and in no other', async () => {
    const channel: Channel = 'voice';
    await plan([2], { channel });
    expect(await leftOut([2], [aCap()])).toEqual([]);
    expect(await leftOut([2], [aCap({ channels: ['sms', 'voice'] })])).toHaveLength(1);
  });

  test('a run that is cancelled frees its places', async () => {
    const run = await plan([2]);
    expect(await leftOut([2], [aCap()])).toHaveLength(1);
    await cancel(opened.context, run, 'wrong list');
    expect(await leftOut([2], [aCap()])).toEqual([]);
  });

  test('tests and messages that ended before the period do not count', async () => {
    const { pool } = opened.ledger;
    await plan([2], { kind: 'test' });
    await runWith(['accepted', 'accepted']);
    const before = aCap({ since: new Date(Date.now() + day) });
    expect(await leftOut([2, 3], [aCap()])).toHaveLength(2);
    expect(await leftOut([2, 3], [before])).toEqual([]);
    await createAllRequestRows(pool);
    await pool.query('UPDATE requests SET updated_at = $1 WHERE request = 1', [ago(8 * day)]);
    expect(await leftOut([2, 3], [aCap()])).toHaveLength(1);
  });

  test('of a run that began before the period, the time of each message decides', async () => {
    const { pool } = opened.ledger;
    const run = await runWith(['accepted', 'accepted', 'accepted']);
    await pool.query('UPDATE runs SET created_at = $2 WHERE run_id = $1', [run, ago(9 * day)]);
    // The first two were answered eight days ago, a day before the third.
    await pool.query(
      `UPDATE outcomes SET ages_ms = ARRAY(SELECT CASE WHEN request < 3 THEN $2 ELSE 0 END FROM unnest(requests) AS request)
       WHERE run_id = $1`,
      [run, 8 * day],
    );
    await pool.query(
      `UPDATE slice_outcomes SET base_at = $2, finished_ms = ARRAY[0, 0, $3] WHERE run_id = $1`,
      [run, ago(8 * day), 8 * day],
    );
    expect((await leftOut([2, 3, 4], [aCap()])).map((each) => each.slice(0, 1))).toEqual(['4']);
  });

  test('a recipient who is suppressed before the request leaves does not count', async () => {
    const { pool } = opened.ledger;
    const run = await plan([2, 3], { chunkSize: 2 });
    await pool.query(
      `INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, reported_at)
       VALUES ($1, 1, 1, 'cancelled', 'suppressed', now())`,
      [run],
    );
    expect((await leftOut([2, 3], [aCap()])).map((each) => each.slice(0, 1))).toEqual(['3']);
  });

  test('what a purge or an erasure has removed no longer counts', async () => {
    const { pool } = opened.ledger;
    const run = await runWith(['accepted', 'accepted']);
    await pool.query(
      `UPDATE contents SET addresses = array_replace(addresses, '+61400000002', NULL) WHERE run_id = $1`,
      [run],
    );
    expect((await leftOut([2, 3], [aCap()])).map((each) => each.slice(0, 1))).toEqual(['3']);
    await pool.query('UPDATE contents SET addresses = NULL WHERE run_id = $1', [run]);
    expect(await leftOut([2, 3], [aCap()])).toEqual([]);
  });

  test('several caps hold at once, and a row names the first that it is beyond', async () => {
    await plan([2, 3]);
    await plan([3], { account: 'another' });
    const caps = [aCap({ most: 2 }), aCap({ of: 'project', account: null, most: 2 })];
    expect(await leftOut([2, 3], caps)).toEqual([
      expect.stringMatching(
        /^3 suppressed: would get more than 2 messages within 7d \(frequency of the project\)/,
      ),
    ]);
  });
});

describe('an account has no more recipients a day than its limit', () => {
  const limited = (most: number): Partial<PlannedRun> => ({ dailyLimit: { most, since: ago(day) } });

  test('the first rows are sent, and the others listed', async () => {
    await plan([2, 3], { channel: 'email' });
    await plan([2], { account: 'another' });
    expect(await leftOut([4, 5, 6], [], limited(4))).toEqual([
      '6 suppressed: beyond the 4 recipients a day of the account',
    ]);
    expect(await leftOut([4, 5, 6], [], limited(2))).toHaveLength(3);
    expect(await leftOut([4, 5, 6], [], limited(1))).toHaveLength(3);
    expect(await leftOut([4, 5, 6], [], limited(5))).toEqual([]);
  });

  test('a limit of the operator comes first, and a place of a cancelled run is free', async () => {
    const run = await plan([2, 3]);
    expect(await leftOut([4, 5, 6], [], { ...limited(3), limit: 2 })).toEqual([
      '5 suppressed: beyond the 3 recipients a day of the account',
    ]);
    await cancel(opened.context, run, 'wrong list');
    expect(await leftOut([4, 5, 6], [], { ...limited(3), limit: 2 })).toEqual([]);
  });
});

describe('runs that are planned at the same moment see each other', () => {
  test('four planners at once never pass a cap or a daily limit', async () => {
    const frequencyCaps = [aCap({ most: 2 })];
    await Promise.all(
      [1, 2, 3, 4].map(() => plan([2, 3, 4, 5], { frequencyCaps, dailyLimit: { most: 7, since: ago(day) } })),
    );
    const { rows } = await opened.ledger.pool.query<{ messages: number }>(`
      SELECT count(*)::integer AS messages
      FROM contents
      CROSS JOIN LATERAL unnest(addresses) AS address
      GROUP BY address
    `);
    expect(Math.max(...rows.map(({ messages }) => messages))).toBe(2);
    expect(rows.reduce((sum, { messages }) => sum + messages, 0)).toBe(7);
  });

  test('a planner waits for one that decides, until that one commits or is killed; a plan does not wait', async () => {
    const { pool } = opened.ledger;
    const frequencyCaps = [aCap()];
    let pid = 0;
    const hanging = Promise.withResolvers<void>();
    const stuck = planUntil(async (client) => {
      pid = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0;
      await hanging.promise;
    });
    await expect.poll(() => pid).toBeGreaterThan(0);
    const others = await plan([2], { frequencyCaps: [aCap({ account: 'another' })], account: 'another' });
    expect(others).toBeTruthy();
    expect(await decide(frequencyCaps)).toMatchObject({ recipients: 1 });
    const waiting = plan([2], { frequencyCaps });
    const locks = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (
      SELECT oid FROM pg_database WHERE datname = current_database())`;
    await expect.poll(async () => (await pool.query(locks)).rowCount).toBe(1);
    await pool.query('SELECT pg_terminate_backend($1)', [pid]);
    const run = await waiting;
    expect(await rejectedContactsOf(pool, run)).toEqual([]);
    hanging.resolve();
    await stuck;
  });

  /** Plans a run that decides, and then does this before it commits. */
  async function planUntil(checkPlan: NonNullable<PlannedRun['checkPlan']>): Promise<void> {
    await inSession(opened.ledger.pool, async (client) => {
      client.on('error', () => undefined);
      await stage(client);
      await expandRun(client, aRun({ frequencyCaps: [aCap()], checkPlan }));
    }).catch(() => undefined);
  }

  const decide = (frequencyCaps: readonly FrequencyCap[]) =>
    inOwnSession(opened.ledger.pool, async (client) => {
      await stage(client);
      const rules = aRun({ frequencyCaps });
      return inTransactionOf(client, (it) => decideContacts(it, rules, opened.ledger), 'BEGIN READ ONLY');
    });

  const stage = (client: Parameters<typeof stageContacts>[0]) =>
    stageContacts(client, {
      contacts: inOneBatch(),
      linesBefore: () => 0,
      keyed: false,
      partsOf: () => null,
      tariffOf: null,
      takePieces: async () => [],
    });

  async function* inOneBatch() {
    yield contactsAt(2);
  }
});

test('the messages of a thousand runs that ended before the period are not read', async () => {
  const { pool } = opened.ledger;
  const old = await runWith(['accepted', 'accepted']);
  await pool.query(
    `
    INSERT INTO runs (run_id, campaign, account, channel, state, definition, message_key, contacts_read, contacts_invalid,
                      contacts_duplicate, contacts_suppressed, created_at, finished_at)
    SELECT 'old-' || n, campaign, account, channel, 'completed', '{}', message_key, 1000, 0, 0, 0, $2, $2
    FROM runs, generate_series(1, 1000) n
    WHERE run_id = $1
    `,
    [old, ago(30 * day)],
  );
  await pool.query(`
    INSERT INTO slices (run_id, slice, first_request, last_request, claimed_to, state)
    SELECT run_id, n, n, n, n, 'done' FROM runs, generate_series(1, 10) n WHERE run_id LIKE 'old-%';
    INSERT INTO contents (run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions, lines,
                          addresses)
    SELECT run_id, slice, slice, slice, '{1}', '{1}', '{0}', '{1}', '{1}', '{+6421}' FROM slices WHERE run_id LIKE 'old-%';
    ANALYZE runs, slices, contents;
  `);
  const read = async (): Promise<number> => {
    await pool.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await pool.query<{ read: number }>(`
      SELECT (sum(seq_tup_read) + sum(idx_tup_fetch))::integer AS read
      FROM pg_stat_user_tables
      WHERE relname IN ('contents', 'slices', 'slice_outcomes', 'outcomes', 'requests')
    `);
    return rows[0]?.read ?? Number.NaN;
  };
  const before = await read();
  expect(await leftOut([2, 3], [aCap()])).toHaveLength(2);
  expect((await read()) - before).toBeLessThan(1_000);
});
