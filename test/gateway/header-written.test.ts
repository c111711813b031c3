import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { startTestSandbox, type TestSandbox } from '../sandbox/start-test-sandbox.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import {
  answerEarly,
  answerTwice,
  closeAfterAnswer,
  closeAfterBody,
  forwardUnchanged,
  resetAfterAnswer,
  resetAfterHeader,
  resetOnConnecting,
  shutFor,
  stallBeforeAnswer,
  stallOnConnecting,
} from '../support/faults.ts';
import { ids, openTestGateway, smsRequest, watchHeaders } from './test-peers.ts';

/**
 * Compares the evidence, which uses `onRequestStart`, with undici's own diagnostics channel, request by
 * request, under all connection faults.
 */

let service: TestSandbox;
beforeAll(async () => {
  service = await startTestSandbox();
});
afterAll(() => service[Symbol.asyncDispose]());

async function mixed(faults: readonly Fault[], seed: number): Promise<FaultProxy> {
  let requests = 0;
  const proxy = await startFaultProxy(service.port, () => {
    requests++;
    return faults[Math.floor(seededRandom('mix', seed, requests) * faults.length)] ?? forwardUnchanged;
  });
  return proxy;
}

const timeouts = { connect: 150, headers: 150, body: 150 };

test.each([1, 2, 3])(
  'the evidence of each of many concurrent requests says whether its header was written, mix %i',
  async (seed) => {
    await using proxy = await mixed(
      [
        forwardUnchanged,
        forwardUnchanged,
        closeAfterAnswer,
        resetAfterAnswer,
        answerTwice('503 Busy'),
        shutFor(15),
        resetOnConnecting,
        resetAfterHeader,
        closeAfterBody,
        stallBeforeAnswer,
        answerEarly('503 Busy', ''),
      ],
      seed,
    );
    await using gateway = openTestGateway(proxy.url, { concurrency: 8, timeouts });
    using headers = watchHeaders();

    const evidence = await Promise.all(
      ids(300).map(async (id) => ({ id, ...(await gateway.send(smsRequest(id))) })),
    );

    const sentOut = evidence.filter(({ kind }) => kind !== 'not_sent').map(({ id }) => id);
    expect(headers.written.toSorted()).toEqual(sentOut.toSorted());
    expect(new Set(evidence.map(({ kind }) => kind))).toEqual(new Set(['answer', 'no_answer', 'not_sent']));
    const unsent = evidence.filter(({ kind }) => kind === 'not_sent').map(({ id }) => `"${id}"`);
    expect(unsent.filter((id) => proxy.seen.some((body) => body.includes(id)))).toEqual([]);
  },
);

test('the evidence of a request without TLS says that no header was written', async () => {
  await using proxy = await mixed([resetOnConnecting, stallOnConnecting, closeAfterBody], 1);
  await using gateway = openTestGateway(proxy.url.replace('http:', 'https:'), { concurrency: 8, timeouts });
  using headers = watchHeaders();

  const evidence = await Promise.all(ids(24).map((id) => gateway.send(smsRequest(id))));

  expect(new Set(evidence.map(({ kind }) => kind))).toEqual(new Set(['not_sent']));
  expect(headers.written).toEqual([]);
});
