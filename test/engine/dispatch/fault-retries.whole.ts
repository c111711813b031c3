import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountAt, execute } from '../../support/execute.ts';
import { refuseWith } from '../../support/faults.ts';
import {
  type AttemptEnd,
  acceptedAfter,
  type FaultyRuns,
  openFaultyRuns,
  sent,
} from '../../support/faulty-runs.ts';
import { freePort } from '../../support/free-port.ts';

let runs: FaultyRuns;
beforeAll(async () => {
  runs = await openFaultyRuns();
});
afterAll(() => runs.close());

const tooMany = (retryAfter: string) =>
  refuseWith('429 Too Many Requests', '', [`Retry-After: ${retryAfter}`]);
const again: AttemptEnd = ['retry', 429, 'HTTP 429'];

describe('retries of a request that never reached the service', () => {
  test('a request to a closed port fails after its retries', async () => {
    const account = accountAt(`http://127.0.0.1:${await freePort()}`);
    const refused = 'connection refused';
    expect(await runs.sendOne(account)).toMatchObject(
      sent('failed', 0, ['retry', null, refused], ['retry', null, refused], ['failed', null, refused]),
    );
  });

  test('a request to an unknown host fails after its retries', async () => {
    const unknown = expect.stringMatching(/^host name (not found|could not be looked up)$/);
    expect(await runs.sendOne(accountAt('http://no-such-host.invalid'))).toMatchObject(
      sent('failed', 0, ['retry', null, unknown], ['retry', null, unknown], ['failed', null, unknown]),
    );
  });

  test('a request that the service refuses each time fails after its retries', async () => {
    await using proxy = await runs.proxyWith(tooMany('0'), tooMany('0'), tooMany('0'));
    expect(await runs.sendOne(accountAt(proxy.url))).toMatchObject(
      sent('failed', 0, again, again, ['failed', 429, 'HTTP 429']),
    );
  });
});

describe('Retry-After', () => {
  test('a refused request is sent again with the same bytes', async () => {
    await using proxy = await runs.proxyWith(refuseWith('503 Service Unavailable'), tooMany('0'));
    expect(await runs.sendOne(accountAt(proxy.url))).toMatchObject(
      acceptedAfter(['retry', 503, 'HTTP 503'], again),
    );
    expect(proxy.seen).toEqual([proxy.seen[0], proxy.seen[0], proxy.seen[0]]);
  });

  test.each(['-5', '-1000000000000', 'Thu, 01 Jan 1970 00:00:00 GMT', 'soon', '1e3', '0x10', ''])(
    'a Retry-After of "%s" causes no wait',
    async (retryAfter) => {
      await using proxy = await runs.proxyWith(tooMany(retryAfter));
      expect(await runs.sendOne(accountAt(proxy.url))).toMatchObject(acceptedAfter(again));
    },
  );

  test.each([
    ['1000000000000', '1000000000000'],
    ['a date in 9999', 'Fri, 31 Dec 9999 23:59:59 GMT'],
    ['of 400 digits', '9'.repeat(400)],
  ])('a stop ends the wait for a Retry-After of %s', async (_, retryAfter) => {
    const { context } = runs;
    await using proxy = await runs.proxyWith(tooMany(retryAfter));
    const account = accountAt(proxy.url);
    const run = await runs.plan(1);
    const stop = new AbortController();
    const stopped = execute(context, run, account, stop.signal);
    await expect.poll(() => proxy.seen.length).toBe(1);
    await sleep(200);
    stop.abort();
    expect(await stopped).toMatchObject({ end: { kind: 'drained' }, summary: { state: 'paused' } });
    expect(await runs.requestsOf(run)).toMatchObject([sent('planned', 0, ['released', 429, 'HTTP 429'])]);
    expect(proxy.seen).toHaveLength(1);

    await execute(context, run, account);
    expect(await runs.requestsOf(run)).toMatchObject([acceptedAfter(['released', 429, 'HTTP 429'])]);
  });
});
