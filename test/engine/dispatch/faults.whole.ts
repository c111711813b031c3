import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountAt, execute } from '../../support/execute.ts';
import type { Fault } from '../../support/fault-proxy.ts';
import {
  announce,
  answerBeforeReading,
  answerEarly,
  answerForAnother,
  answerGarbage,
  answerInstead,
  answerTwice,
  answerWithABodyOf,
  closeAfterAnswer,
  closeAfterBody,
  forwardUnchanged,
  redirectTo,
  refuseWith,
  resetAfterBody,
  resetAfterHeader,
  resetInBodyOfUnknownLength,
  resetInsteadOfForwarding,
  stallBeforeAnswer,
  stallInBody,
  stallInHeader,
  trickle,
  truncateBody,
  truncateBodyOfUnknownLength,
  truncateHeader,
} from '../../support/faults.ts';
import { acceptedAfter, type FaultyRuns, inDoubt, openFaultyRuns, sent } from '../../support/faulty-runs.ts';

let runs: FaultyRuns;
beforeAll(async () => {
  runs = await openFaultyRuns();
});
afterAll(() => runs.close());

const broken = 'connection closed before the answer was complete';
const page = '<html>Sign in to the network</html>';
const unasked = '{"Result":"Success","MessageID":"of-nobody"}';
const unclear = 'HTTP 200, no media type: ';
const megabytes = 1_000_000;

type Case = readonly [what: string, fault: Fault, expected: ReturnType<typeof sent>];

describe('executeRun with a fault after the request has left', () => {
  test.each<Case>([
    ['a reset after its header', resetAfterHeader, inDoubt(null, 'connection reset', 0)],
    ['a reset after its body', resetAfterBody, inDoubt(null, 'connection reset', 1)],
    ['a reset instead of being forwarded', resetInsteadOfForwarding, inDoubt(null, 'connection reset', 0)],
    ['a connection closed without an answer', closeAfterBody, inDoubt(null, broken, 1)],
    ['an answer cut off in its header', truncateHeader, inDoubt(null, broken, 1)],
    ['an answer cut off in its body', truncateBody, inDoubt(200, broken, 1)],
    [
      'an answer of unknown length cut off',
      truncateBodyOfUnknownLength,
      inDoubt(200, expect.stringContaining(unclear), 1),
    ],
    [
      'an answer of unknown length ended by a reset',
      resetInBodyOfUnknownLength,
      inDoubt(200, expect.stringContaining(unclear), 1),
    ],
    ['an answer that is not HTTP', answerGarbage, inDoubt(null, 'answer is not HTTP', 1)],
    [
      'a 200 that is a page',
      answerInstead('200 OK', page),
      inDoubt(200, expect.stringContaining(unclear), 1),
    ],
    ['a 200 without a body', answerInstead('200 OK', ''), inDoubt(200, expect.stringContaining(unclear), 1)],
    [
      'a success for another MessageID',
      answerForAnother,
      inDoubt(200, expect.stringContaining('another MessageID (another'), 1),
    ],
    [
      'a 500 of a service that accepted it',
      answerInstead('500 Internal Server Error', page),
      inDoubt(500, `HTTP 500, no media type: ${page}`, 1),
    ],
    [
      'a 502 of a service that accepted it',
      answerInstead('502 Bad Gateway', ''),
      inDoubt(502, 'HTTP 502, no media type: the answer has no text', 1),
    ],
    [
      'a 400 without a body',
      answerInstead('400 Bad Request', ''),
      inDoubt(400, 'HTTP 400, no media type: the answer has no text', 1),
    ],
    [
      'a success with status 400',
      answerInstead('400 Bad Request', unasked),
      inDoubt(400, 'HTTP 400, but the answer names another MessageID (of-nobody)', 1),
    ],
    [
      'an answer of 100 MB',
      answerWithABodyOf(100 * megabytes),
      inDoubt(200, 'answer larger than 1048576 bytes', 1),
    ],
    ['an unexpected 100', announce('100 Continue', 1), inDoubt(null, broken, 1)],
    [
      'a change of protocol',
      announce('101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade', 1),
      inDoubt(null, broken, 1),
    ],
  ])('a request is in doubt and is not sent again after %s', async (_, fault, expected) => {
    await using proxy = await runs.proxyWith(fault);
    expect(await runs.sendOne(accountAt(proxy.url))).toMatchObject(expected);
    expect(proxy.connections()).toBe(1);
  });

  test.each<Case>([
    ['a stall before the answer', stallBeforeAnswer, inDoubt(null, 'no answer within 300 ms', 1)],
    ['a stall in the header of the answer', stallInHeader, inDoubt(null, 'no answer within 300 ms', 1)],
    ['a stall in the body of the answer', stallInBody, inDoubt(200, 'no complete answer within 300 ms', 1)],
  ])('a request is in doubt and is not sent again after %s', async (_, fault, expected) => {
    await using proxy = await runs.proxyWith(fault);
    const account = accountAt(proxy.url, { timeouts: { headers: 300, body: 300 } });
    expect(await runs.sendOne(account)).toMatchObject(expected);
    expect(proxy.connections()).toBe(1);
  });

  test.each([301, 302, 303, 307, 308])(
    'a request is in doubt after a %i redirect, which is not followed',
    async (status) => {
      const { service } = runs;
      await using proxy = await runs.proxyWith(
        redirectTo(`${status} Elsewhere`, `${service.url}/api/v2.02/send/sms`),
      );
      expect(await runs.sendOne(accountAt(proxy.url))).toMatchObject(
        inDoubt(status, `HTTP ${status}, no media type: the answer has no text`, 0),
      );
    },
  );
});

describe('executeRun with a fault that does no harm', () => {
  test.each<[string, Fault]>([
    ['an answer that trickles in', trickle],
    ['an answer announced by others', announce('102 Processing', 3)],
    ['an answer announced before the request was read', answerBeforeReading],
  ])('a request is accepted and is received once with %s', async (_, fault) => {
    await using proxy = await runs.proxyWith(fault);
    expect(await runs.sendOne(accountAt(proxy.url))).toMatchObject(acceptedAfter());
  });

  test.each<[string, Fault]>([
    ['a connection that is closed after every answer', closeAfterAnswer],
    ['a second answer behind every answer, which does not settle the next request', answerTwice('503 Busy')],
  ])('each request is accepted and is received once with %s', async (_, fault) => {
    await using proxy = await runs.proxyWith(...Array.from({ length: 12 }, () => fault));
    const run = await runs.plan(12, { dispatch: { concurrency: 1 } });
    await execute(runs.context, run, accountAt(proxy.url));
    for (const request of await runs.requestsOf(run)) expect(request).toMatchObject(acceptedAfter());
    expect(proxy.connections()).toBe(12);
  });
});

describe('an answer before the end of the request', () => {
  const long = { text: 'x'.repeat(8 * megabytes) };

  test('an early rejection settles the request', async () => {
    await using proxy = await runs.proxyWith(
      answerEarly('400 Bad Request', '{"Result":"Failed","ErrorMessage":["Too long"]}'),
    );
    expect(await runs.sendOne(accountAt(proxy.url), long)).toMatchObject(
      sent('rejected', 0, ['rejected', 400, 'Too long']),
    );
  });

  test('an early refusal is retried on another connection', async () => {
    await using proxy = await runs.proxyWith(answerEarly('503 Service Unavailable', ''));
    expect(await runs.sendOne(accountAt(proxy.url), long)).toMatchObject(
      acceptedAfter(['retry', 503, 'HTTP 503']),
    );
    expect(proxy.connections()).toBe(2);
  });
});

test('a rejection by a proxy is kept in its words, and the request never reaches the service', async () => {
  await using proxy = await runs.proxyWith(refuseWith('400 Bad Request', page), forwardUnchanged);
  expect(await runs.sendOne(accountAt(proxy.url))).toMatchObject(
    sent('rejected', 0, ['rejected', 400, page]),
  );
});
