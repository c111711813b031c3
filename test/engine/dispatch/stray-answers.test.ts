import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../../src/sandbox/seeded-values.ts';
import { accountAt, execute } from '../../support/execute.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { answerDoubled, answerTooMany, refuseWith } from '../../support/faults.ts';
import { type FaultyRuns, openFaultyRuns } from '../../support/faulty-runs.ts';

let runs: FaultyRuns;
beforeAll(async () => {
  runs = await openFaultyRuns();
});
afterAll(() => runs.close());

const failed = '{"Result":"Failed","ErrorMessage":["Missing Sender"]}';

test.each([
  ['400 Bad Request', failed],
  ['400 Bad Request', '{"Result":"Failed","MessageID":"another","ErrorMessage":["Missing Sender"]}'],
  ['503 Service Unavailable', ''],
])('an extra answer (%s with %s) never settles another request', async (status, body) => {
  let begun = 0;
  await using proxy = await startFaultProxy(runs.service.port, () => {
    begun++;
    const [own, stray] = [seededRandom('own', status, begun), seededRandom('stray', status, begun)];
    return answerTooMany(status, body, own * 6, stray * 8);
  });
  const run = await runs.plan(120, { dispatch: { concurrency: 4 } });
  await execute(runs.context, run, accountAt(proxy.url));

  const requests = await runs.requestsOf(run);
  expect(requests.filter(({ accepted, received }) => accepted > 1 || received > accepted)).toEqual([]);
  expect(requests.filter(({ state }) => state !== 'accepted' && state !== 'in_doubt')).toEqual([]);
  expect(requests.filter(({ state, accepted }) => state === 'accepted' && accepted !== 1)).toEqual([]);
  expect(requests.filter(({ state }) => state === 'accepted').length).toBeGreaterThan(20);
});

test('a doubled answer of an interface that answers with job numbers never makes another request accepted', async () => {
  let begun = 0;
  await using proxy = await startFaultProxy(runs.service.port, () => {
    begun++;
    // Each twentieth is refused, and the service never has it.
    if (begun % 20 === 0) return refuseWith('200 OK', failed);
    const [own, stray] = [seededRandom('own number', begun), seededRandom('stray number', begun)];
    return answerDoubled('200 OK', `Job ${begun}`, own * 4, stray * 8);
  });
  const run = await runs.plan(200, { dispatch: { concurrency: 4 } });
  const account = accountAt(proxy.url, {
    interface: 'rest-1.04',
    credentials: { kind: 'apiKey', sender: 'sender@example.com', apiKey: 'token-for-tests' },
  });
  const { summary } = await execute(runs.context, run, account);

  const requests = await runs.requestsOf(run);
  expect(requests.filter(({ state, accepted }) => state === 'accepted' && accepted !== 1)).toEqual([]);
  expect(requests.filter(({ accepted, received }) => accepted > 1 || received > accepted)).toEqual([]);
  const { rows: numbers } = await runs.context.ledger.pool.query<{ requests: number; states: string[] }>(
    `
    SELECT count(*)::integer AS requests, array_agg(DISTINCT q.state) AS states
    FROM job_numbers j
    JOIN request_states q USING (run_id, request)
    WHERE run_id = $1
    GROUP BY j.job_number
    `,
    [run],
  );
  const repeated = numbers.filter(({ requests: sharing }) => sharing > 1);
  expect(repeated.length).toBeGreaterThan(5);
  expect(repeated.filter(({ states }) => states.join() !== 'in_doubt')).toEqual([]);
  expect(requests.filter(({ state }) => state === 'accepted').length).toBeGreaterThan(20);
  expect(summary.requests.accepted + summary.requests.in_doubt + summary.requests.rejected).toBe(200);
});
