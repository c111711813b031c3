import { afterAll, beforeAll, expect, test } from 'vitest';
import { InputError } from '../../../src/domain/problems.ts';
import { requestStates } from '../../../src/domain/runs.ts';
import { seededRandom } from '../../../src/sandbox/seeded-values.ts';
import { examples } from '../../support/examples.ts';
import { accountAt, execute, recordedRequests } from '../../support/execute.ts';
import { type Fault, startFaultProxy } from '../../support/fault-proxy.ts';
import * as faults from '../../support/faults.ts';
import { type FaultyRuns, openFaultyRuns } from '../../support/faulty-runs.ts';

let runs: FaultyRuns;
beforeAll(async () => {
  runs = await openFaultyRuns();
});
afterAll(() => runs.close());

const requests = 300;

/** More refusals in a row than any request has retries. */
const storm = { every: 150, length: 30 };
const busy = faults.refuseWith('503 Service Unavailable');

const rare: readonly Fault[] = [
  faults.stallBeforeAnswer,
  faults.stallInHeader,
  faults.stallInBody,
  faults.shutFor(20),
  faults.answerWithABodyOf(2_000_000),
];
const frequent: readonly Fault[] = [
  faults.resetOnConnecting,
  faults.resetAfterHeader,
  faults.resetAfterBody,
  faults.resetInsteadOfForwarding,
  faults.resetAfterAnswer,
  faults.closeAfterBody,
  faults.closeAfterAnswer,
  faults.truncateHeader,
  faults.truncateBody,
  faults.truncateBodyOfUnknownLength,
  faults.answerGarbage,
  faults.answerForAnother,
  faults.answerInstead('500 Internal Server Error', ''),
  faults.answerInstead('200 OK', '<html>Welcome</html>'),
  faults.answerTwice('503 Service Unavailable'),
  faults.announce('102 Processing', 2),
  faults.redirectTo('307 Temporary Redirect', '/api/v2.02/send/sms'),
  faults.refuseWith('400 Bad Request', '{"Result":"Failed","ErrorMessage":["No"]}'),
  faults.refuseWith('429 Too Many Requests', '', ['Retry-After: 0']),
  faults.refuseWith('503 Service Unavailable', '', ['Retry-After: soon']),
  faults.answerEarly('503 Service Unavailable', ''),
  faults.trickle,
];

function pick(seed: number, request: number): Fault {
  if (request % storm.every < storm.length) return busy;
  const draw = seededRandom('mix', seed, request);
  if (draw < 0.4) return faults.forwardUnchanged;
  const among = draw < 0.5 ? rare : frequent;
  return among[Math.floor(seededRandom('fault', seed, request) * among.length)] ?? faults.forwardUnchanged;
}

const mixes = Array.from({ length: examples(1).numRuns }, (_, index) => index + 1);

test.each(mixes)('a mix of all faults loses no request and sends none twice (mix %i)', async (seed) => {
  const { context } = runs;
  const stops = [new AbortController(), new AbortController()];
  let begun = 0;
  await using proxy = await startFaultProxy(runs.service.port, () => {
    begun++;
    stops[Math.floor(begun / 100) - 1]?.abort();
    return pick(seed, begun);
  });
  const account = accountAt(proxy.url, { timeouts: { connect: 250, headers: 250, body: 250 } });
  const run = await runs.plan(requests, { dispatch: { concurrency: 8 } });

  for (const { signal } of stops) {
    expect(await execute(context, run, account, signal)).toMatchObject({ end: { kind: 'drained' } });
  }
  const { summary } = await execute(context, run, account);

  const sent = await runs.requestsOf(run);
  expect(summary.state).toBe('completed');
  expect(requestStates.reduce((sum, state) => sum + summary.requests[state], 0)).toBe(requests);
  expect(sent).toHaveLength(requests);
  const odd = sent.filter(({ state, received, accepted }) => {
    switch (state) {
      case 'accepted':
        return accepted !== 1 || received !== 1;
      case 'in_doubt':
        return received > 1;
      case 'rejected':
        return accepted > 0;
      case 'failed':
        return received > 0;
      default:
        return true;
    }
  });
  expect(odd).toEqual([]);
  // A failed request needs three faults; see fault-retries.whole.ts.
  expect(sent.map(({ state }) => state)).toEqual(
    expect.arrayContaining(['accepted', 'in_doubt', 'rejected']),
  );

  const recorded = await recordedRequests(context, run);
  await execute(context, run, account).catch((error: unknown) => expect(error).toBeInstanceOf(InputError));
  expect(await recordedRequests(context, run)).toEqual(recorded);
});
