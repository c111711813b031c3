import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../../src/sandbox/seeded-values.ts';
import { accountAt, execute } from '../../support/execute.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { answerTooMany } from '../../support/faults.ts';
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
