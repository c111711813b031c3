import { afterEach, describe, expect, test } from 'vitest';
import type { Suppression } from '../../../src/domain/suppressions.ts';
import { listDeliveryResults, listFailureGroups } from '../../../src/ledger/counts/groups.ts';
import { readRunCounts } from '../../../src/ledger/counts/run-counts.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { billingOf } from '../../support/billing.ts';
import { type ClaimedRequest, claimRequests, settleRequests } from '../../support/claims.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { addressesOf } from '../../support/outgoing.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { acquireSliceOf } from '../../support/slices.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { claimConcurrently } from './claim-concurrently.ts';

const opened = testLedger();

const owner = '00000000-0000-4000-8000-000000000001';

async function attemptsOf(run: string) {
  const { rows } = await opened.ledger.pool.query(
    'SELECT request, attempt, verdict FROM all_attempts WHERE run_id = $1 ORDER BY request, attempt',
    [run],
  );
  return rows;
}

describe('a claim with suppressed recipients', () => {
  afterEach(async () => {
    await opened.ledger.pool.query('DELETE FROM suppressions');
  });

  const addressOf = (line: number): string => `+6140000${String(line).padStart(4, '0')}`;

  /** The contacts are in lines 2, 3, …. */
  function plan(contacts: number, chunkSize: number, subAccount?: string): Promise<string> {
    const envelope = anEnvelope({ Message: 'Hello', ...(subAccount && { SubAccount: subAccount }) });
    return planContacts(
      opened.ledger,
      aRun({ chunkSize }),
      Array.from({ length: contacts }, (_, index) => aContact(index + 2, { envelope })),
    );
  }

  function suppress(lines: readonly number[], changes: Partial<Suppression> = {}): Promise<number> {
    const others = { reason: '', source: 'operator', createdAt: new Date() } as const;
    return addSuppressions(
      opened.ledger.pool,
      lines.map((line) => {
        return { channel: 'sms', address: addressOf(line), subAccount: '', ...others, ...changes };
      }),
    );
  }

  function claimAll(run: string, limit = 10) {
    return claimRequests(opened.ledger.pool, { run, owner, limit, now: new Date() });
  }

  const claimedAddresses = (requests: readonly ClaimedRequest[]) =>
    requests.map(({ destinations }) => addressesOf(destinations));

  async function release({ request, attempt }: ClaimedRequest, run: string): Promise<void> {
    const released = { request, attempt, finishedAt: new Date(), httpStatus: null, detail: null };
    await settleRequests(opened.ledger.pool, run, owner, [
      { ...released, state: 'planned', verdict: 'released' },
    ]);
  }

  async function countsOf(run: string) {
    const summary = await summariseRun(opened.ledger.pool, run);
    return { requests: summary?.requests, recipients: summary?.recipients };
  }

  test('omits suppressed recipients from the destinations and keeps the others', async () => {
    const run = await plan(5, 3);
    await suppress([3, 6]);
    const { claimed, cancelled } = await claimAll(run);
    expect(claimedAddresses(claimed)).toEqual([[addressOf(2), addressOf(4)], [addressOf(5)]]);
    expect(cancelled).toEqual([]);
    expect(await countsOf(run)).toMatchObject({
      requests: { total: 2, sending: 2, cancelled: 0 },
      recipients: { total: 5, pending: 3, cancelled: 2 },
    });
    expect((await readRunCounts(opened.ledger.pool, [run])).get(run)?.suppressed).toBe(2);
  });

  test('ignores suppressions of other channels', async () => {
    const run = await plan(1, 1);
    await suppress([2], { channel: 'fax' });
    expect(claimedAddresses((await claimAll(run)).claimed)).toEqual([[addressOf(2)]]);
  });

  test.each([
    ['omits a recipient that is suppressed for its SubAccount', 'ACME', 'ACME', []],
    ['omits a recipient that is suppressed for all SubAccounts', 'ACME', '', []],
    ['omits a recipient without a SubAccount that is suppressed for all', undefined, '', []],
    ['keeps a recipient that is suppressed for another SubAccount', 'ACME', 'acme', [2]],
    ['keeps a recipient without a SubAccount that is suppressed for one', undefined, 'ACME', [2]],
  ])('%s', async (_, sent, suppressed, left) => {
    const run = await plan(2, 2, sent);
    await suppress([2], { subAccount: suppressed });
    expect(claimedAddresses((await claimAll(run)).claimed)).toEqual([[...left, 3].map(addressOf)]);
  });

  test('counts a recipient once that is suppressed for one SubAccount and for all', async () => {
    const run = await plan(2, 2, 'ACME');
    await suppress([2]);
    await suppress([2], { subAccount: 'ACME' });
    expect(claimedAddresses((await claimAll(run)).claimed)).toEqual([[addressOf(3)]]);
    expect(await countsOf(run)).toMatchObject({ recipients: { total: 2, pending: 1, cancelled: 1 } });
  });

  test('cancels a request without an attempt if all its recipients are suppressed', async () => {
    const run = await plan(4, 2);
    await suppress([2, 3]);
    const { claimed, cancelled } = await claimAll(run);
    expect(cancelled).toEqual([{ request: 1, recipients: 2 }]);
    expect(claimed.map(({ request }) => request)).toEqual([2]);
    expect(await attemptsOf(run)).toMatchObject([{ request: 2 }]);
    expect(await countsOf(run)).toMatchObject({
      requests: { total: 2, sending: 1, cancelled: 1 },
      recipients: { total: 4, pending: 2, cancelled: 2 },
    });
  });

  test('returns a batch of cancelled requests, so that the caller sees that the slice has not ended', async () => {
    const run = await plan(5, 1);
    await suppress([2, 3, 5]);
    expect((await claimAll(run, 2)).claimed).toMatchObject([{ request: 3 }, { request: 5 }]);
    expect(await claimAll(run, 2)).toMatchObject({
      claimed: [],
      cancelled: [
        { request: 1, recipients: 1 },
        { request: 2, recipients: 1 },
      ],
    });
    expect(await claimAll(run, 2)).toMatchObject({ claimed: [], cancelled: [{ request: 4, recipients: 1 }] });
    expect(await claimAll(run, 2)).toMatchObject({ claimed: [], cancelled: [] });
  });

  test('keeps recipients that were suppressed after the first attempt, because every attempt carries the same bytes', async () => {
    const run = await plan(3, 3);
    await suppress([2]);
    const first = (await claimAll(run)).claimed;
    for (const request of first) await release(request, run);
    await suppress([3]);
    const second = (await claimAll(run)).claimed;
    expect(claimedAddresses(second)).toEqual(claimedAddresses(first));
    expect(second).toMatchObject([{ attempt: 2, messageId: first[0]?.messageId }]);
    expect(await countsOf(run)).toMatchObject({ recipients: { total: 3, pending: 2, cancelled: 1 } });
  });

  test('cancels a request that was attempted and released if all its recipients are suppressed', async () => {
    const run = await plan(3, 3);
    await suppress([2]);
    for (const request of (await claimAll(run)).claimed) await release(request, run);
    await suppress([3, 4]);
    expect(await claimAll(run)).toMatchObject({ claimed: [], cancelled: [{ request: 1, recipients: 3 }] });
    expect(await attemptsOf(run)).toMatchObject([{ attempt: 1, verdict: 'released' }]);
    expect(await countsOf(run)).toMatchObject({
      requests: { total: 1, planned: 0, cancelled: 1 },
      recipients: { total: 3, pending: 0, cancelled: 3 },
    });
  });

  test('keeps a recipient cancelled whose suppression is removed later', async () => {
    const run = await plan(2, 2);
    await suppress([2]);
    for (const request of (await claimAll(run)).claimed) await release(request, run);
    await opened.ledger.pool.query('DELETE FROM suppressions');
    expect(claimedAddresses((await claimAll(run)).claimed)).toEqual([[addressOf(3)]]);
  });

  test('omits each suppressed recipient once in concurrent claims', async () => {
    const run = await plan(60, 3);
    await suppress(Array.from({ length: 20 }, (_, index) => index * 3 + 2));
    const slice = await acquireSliceOf(opened.ledger, run);
    await createRequestRows(opened.ledger.pool, run);
    const sent = claimedAddresses(await claimConcurrently(opened.ledger, slice, 10, 2)).flat();
    expect(sent.toSorted()).toEqual(
      Array.from({ length: 60 }, (_, index) => index + 2)
        .filter((line) => line % 3 !== 2)
        .map(addressOf),
    );
    expect(await countsOf(run)).toMatchObject({ recipients: { total: 60, pending: 40, cancelled: 20 } });
  });

  test.each([
    ['accepted', { accepted: 2, unknown: 0 }],
    ['in_doubt', { accepted: 0, unknown: 2 }],
    ['rejected', { accepted: 0, unknown: 0 }],
  ] as const)(
    'leaves suppressed recipients out of the figures of a request that is %s',
    async (state, billed) => {
      const run = await plan(3, 3);
      await suppress([4]);
      const { claimed } = await claimAll(run);
      await settleRequests(
        opened.ledger.pool,
        run,
        owner,
        claimed.map(({ request, attempt }) => {
          return { request, attempt, finishedAt: new Date(), httpStatus: 200, state, detail: 'words' };
        }),
      );
      expect((await billingOf(opened.ledger.pool, [run])).total).toMatchObject({
        recipients: 2,
        ...billed,
      });
      const recipients = (await summariseRun(opened.ledger.pool, run))?.recipients;
      expect(recipients).toMatchObject({
        total: 3,
        cancelled: 1,
        [state === 'in_doubt' ? 'unknown' : state]: 2,
      });
      expect(await listDeliveryResults(opened.ledger.pool, run)).toEqual([]);
      expect(await listFailureGroups(opened.ledger.pool, run)).toMatchObject(
        state === 'accepted' ? [] : [{ state, reason: 'words', requests: 1, recipients: 2 }],
      );
    },
  );
});
