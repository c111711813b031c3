import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountAt, execute } from '../../support/execute.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { forwardUnchanged, refuseWith, shutFor } from '../../support/faults.ts';
import { type FaultyRuns, openFaultyRuns } from '../../support/faulty-runs.ts';

let runs: FaultyRuns;
beforeAll(async () => {
  runs = await openFaultyRuns();
});
afterAll(() => runs.close());

const busy = refuseWith('503 Service Unavailable');
const tooMany = refuseWith('429 Too Many Requests');

const statesOf = async (run: string): Promise<Record<string, number>> =>
  Object.fromEntries(
    [...Map.groupBy(await runs.requestsOf(run), ({ state }) => state)].map(([state, of]) => [
      state,
      of.length,
    ]),
  );

describe('executeRun while the service refuses every request', () => {
  test('two workers together send one probe at a time, and no request fails', async () => {
    let stormEndsAt = Number.POSITIVE_INFINITY;
    let seen = 0;
    let refused = 0;
    await using proxy = await startFaultProxy(runs.service.port, () => {
      seen++;
      if (seen === 30) stormEndsAt = Date.now() + 600;
      if (seen < 30 || Date.now() > stormEndsAt) return forwardUnchanged;
      refused++;
      return refused % 2 === 0 ? busy : tooMany;
    });
    const account = accountAt(proxy.url);
    const context = { ...runs.context, random: () => 0.2 };
    const run = await runs.plan(120, { dispatch: { concurrency: 8, retries: 2 } });
    await Promise.all([execute(context, run, account), execute(context, run, account)]);

    expect(await statesOf(run)).toEqual({ accepted: 120 });
    // Requests in flight, connection checks and some probes.
    expect(refused).toBeLessThan(60);
  });

  test('a run waits while the service refuses connections, and then goes on', async () => {
    await using proxy = await runs.proxyWith(forwardUnchanged, forwardUnchanged, shutFor(700));
    const context = { ...runs.context, random: () => 0.2 };
    const run = await runs.plan(20, { dispatch: { concurrency: 1, retries: 5 } });
    await execute(context, run, accountAt(proxy.url));
    expect(await statesOf(run)).toEqual({ accepted: 20 });
    const attempts = (await runs.requestsOf(run)).flatMap((request) => request.attempts);
    expect(attempts).toContainEqual(expect.objectContaining({ detail: 'connection refused' }));
  });

  test('a run pauses after giveUpAfter without a failed request, and can be resumed', async () => {
    let storm = true;
    await using proxy = await startFaultProxy(runs.service.port, () => (storm ? busy : forwardUnchanged));
    const account = accountAt(proxy.url);
    const run = await runs.plan(20, { dispatch: { giveUpAfter: 1_000 } });
    expect(await execute(runs.context, run, account)).toMatchObject({
      end: {
        kind: 'paused',
        reason: 'the service has refused every request of account "sandbox" for 1s: HTTP 503',
      },
    });
    expect(await statesOf(run)).toEqual({ planned: 20 });

    storm = false;
    await execute(runs.context, run, account);
    expect(await statesOf(run)).toEqual({ accepted: 20 });
  });
});

test('a request that is refused before and after such a pause fails, and the run ends', async () => {
  await using proxy = await startFaultProxy(runs.service.port, () => busy);
  const account = accountAt(proxy.url);
  const context = { ...runs.context, random: () => 0.2 };
  const run = await runs.plan(1, { dispatch: { retries: 9, giveUpAfter: 1_000 } });
  expect((await execute(context, run, account)).end.kind).toBe('paused');
  expect(await statesOf(run)).toEqual({ planned: 1 });
  expect((await execute(context, run, account)).end.kind).toBe('finished');
  expect(await statesOf(run)).toEqual({ failed: 1 });
  await runs.context.ledger.pool.query('DELETE FROM account_breakers');
});

test('a worker that starts with an open breaker sends nothing before the next probe', async () => {
  const seen: number[] = [];
  await using proxy = await startFaultProxy(runs.service.port, () => {
    seen.push(Date.now());
    return forwardUnchanged;
  });
  const { rows } = await runs.context.ledger.pool.query<{ retry_at: Date }>(
    `INSERT INTO account_breakers (account, opened_at, retry_at, refusals, reason)
     VALUES ('sandbox', now(), clock_timestamp() + interval '700 ms', 1, 'HTTP 503')
     RETURNING retry_at`,
  );
  const run = await runs.plan(8);
  await execute(runs.context, run, accountAt(proxy.url));
  expect(await statesOf(run)).toEqual({ accepted: 8 });
  // The clock's milliseconds are rounded.
  expect(Math.min(...seen)).toBeGreaterThanOrEqual((rows[0]?.retry_at.getTime() ?? Number.NaN) - 5);
});

test('a request that is refused while others are answered fails after its retries', async () => {
  let requests = 0;
  const closing = refuseWith('503 Service Unavailable', '', ['Connection: close']);
  await using proxy = await startFaultProxy(runs.service.port, () =>
    ++requests % 2 === 0 ? closing : forwardUnchanged,
  );
  const run = await runs.plan(8, { dispatch: { concurrency: 1, retries: 0, giveUpAfter: 0 } });
  await execute(runs.context, run, accountAt(proxy.url));
  expect(await statesOf(run)).toEqual({ accepted: 4, failed: 4 });
});
