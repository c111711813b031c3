import { afterAll, beforeAll, expect, test } from 'vitest';
import { accountAt } from '../../support/execute.ts';
import { closeAfterBody, refuseWith } from '../../support/faults.ts';
import { type AttemptEnd, type FaultyRuns, openFaultyRuns } from '../../support/faulty-runs.ts';

/** A later attempt proves nothing about an earlier one. */

let runs: FaultyRuns;
beforeAll(async () => {
  runs = await openFaultyRuns();
});
afterAll(() => runs.close());

const once = { dispatch: { onUnknown: 'resend', resends: 1 } };
const busy = refuseWith('503 Service Unavailable');
const lost: AttemptEnd = ['in_doubt', null, 'connection closed before the answer was complete'];

const ends = (
  attempts: readonly { verdict: string | null; http_status: number | null; detail: string | null }[],
) => attempts.map(({ verdict, http_status, detail }) => [verdict, http_status, detail]);

test('a request in doubt that is sent again and accepted counts as accepted, perhaps twice by the service', async () => {
  await using proxy = await runs.proxyWith(closeAfterBody);
  const request = await runs.sendOne(accountAt(proxy.url), once);
  expect(request).toMatchObject({ state: 'accepted', accepted: 2 });
  expect(ends(request.attempts)).toEqual([lost, ['accepted', 200, null]]);
});

test('a request in doubt that is sent again and refused stays in doubt and is not failed', async () => {
  await using proxy = await runs.proxyWith(closeAfterBody, busy, busy, busy);
  const request = await runs.sendOne(accountAt(proxy.url), once);
  expect(request).toMatchObject({ state: 'in_doubt', accepted: 1 });
  expect(ends(request.attempts)).toEqual([
    lost,
    ['retry', 503, 'HTTP 503'],
    ['retry', 503, 'HTTP 503'],
    ['failed', 503, 'HTTP 503'],
  ]);
});

test('a request in doubt that is sent again and rejected stays in doubt and is not rejected', async () => {
  await using proxy = await runs.proxyWith(closeAfterBody, refuseWith('400 Bad Request', 'MessageID known'));
  const request = await runs.sendOne(accountAt(proxy.url), once);
  expect(request).toMatchObject({ state: 'in_doubt', accepted: 1 });
  expect(ends(request.attempts)).toEqual([lost, ['rejected', 400, 'MessageID known']]);
});
