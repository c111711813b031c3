import { expect, test } from 'vitest';
import { InputError } from '../../../src/domain/problems.ts';
import { lookUpDoubts } from '../../../src/engine/runs/ask-about-doubts.ts';
import type { LookUp } from '../../../src/gateway/look-up.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { openTestGateway, testAccount, textPeer } from '../../gateway/test-peers.ts';
import { planRunInDoubt } from '../../support/run-in-doubt.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const rate = { admitLookUp: async (stop: AbortSignal) => !stop.aborted };

/** Looks up requests at a service with the given answer for the nth MessageID; it has all later ones. */
async function lookUp(run: string, answers: readonly [number, object][], stop = new AbortController()) {
  const account = { ...testAccount('http://127.0.0.1:1'), statusLookUp: true };
  const asked: string[] = [];
  await using peer = await textPeer((_body, response, { url = '' }) => {
    const messageId = /status\/(\w+)/.exec(url)?.[1] ?? '';
    const [status, body] = answers[asked.length] ?? [200, { Result: 'Success' }];
    asked.push(messageId);
    response.writeHead(status).end(JSON.stringify({ MessageID: messageId, ...body }));
  });
  await using gateway = openTestGateway(peer.url);
  const heard: LookUp['kind'][] = [];
  const service = { account, gateway, rate };
  const end = await lookUpDoubts(
    opened.context,
    service,
    { run, named: undefined },
    {
      stop: stop.signal,
      onAnswer: (_, answer) => {
        heard.push(answer.kind);
        if (heard.length === 2) stop.abort();
      },
    },
  );
  return {
    end,
    asked: asked.length,
    heard,
    requests: (await summariseRun(opened.ledger.pool, run))?.requests,
  };
}

const notFound: [number, object] = [404, { Result: 'RecordNotFound' }];
const unclear: [number, object] = [502, {}];

test('requests that the service has are accepted, and all others stay in doubt', async () => {
  const run = await planRunInDoubt(opened.ledger, { requests: 2 });
  expect(await lookUp(run, [notFound, [200, { Result: 'Success' }]])).toMatchObject({
    end: { kind: 'finished', found: 1, notFound: 1, unclear: 0 },
    requests: { accepted: 1, in_doubt: 1 },
  });
  expect(await lookUp(run, [unclear])).toMatchObject({
    end: { kind: 'finished', found: 0, notFound: 0, unclear: 1 },
    requests: { accepted: 1, in_doubt: 1 },
  });
});

test('a service that refuses the credential is not asked again', async () => {
  const run = await planRunInDoubt(opened.ledger, { requests: 3 });
  expect(await lookUp(run, [[401, { Result: 'Unauthorized', ErrorMessage: ['Who?'] }]])).toMatchObject({
    end: { kind: 'refused', words: ['Who?'], found: 0 },
    asked: 1,
    requests: { in_doubt: 3 },
  });
});

test('a stopped look-up has recorded its answers and asks no more', async () => {
  const run = await planRunInDoubt(opened.ledger, { requests: 4 });
  expect(await lookUp(run, [])).toMatchObject({
    end: { kind: 'stopped', found: 2 },
    asked: 2,
    requests: { accepted: 2, in_doubt: 2 },
  });
});

test('a stopped look-up does not wait for an answer', async () => {
  const run = await planRunInDoubt(opened.ledger, { requests: 2 });
  const stop = new AbortController();
  await using peer = await textPeer(() => stop.abort());
  await using gateway = openTestGateway(peer.url, { timeouts: { headers: 60_000 } });
  const service = { account: { ...testAccount(peer.url), statusLookUp: true }, gateway, rate };
  const end = await lookUpDoubts(
    opened.context,
    service,
    { run, named: undefined },
    { stop: stop.signal, onAnswer: (_, { kind }) => expect.fail(kind) },
  );
  expect(end).toEqual({ kind: 'stopped', found: 0, notFound: 0, unclear: 0 });
});

test.each([
  ['rest-2.02', /set "statusLookUp: on"/],
  ['soap-tts', /soap-tts has no status look-up/],
] as const)('an account of %s without a look-up is refused before anything is asked', async (name, words) => {
  const run = await planRunInDoubt(opened.ledger);
  const account = { ...testAccount('http://127.0.0.1:1'), interface: name };
  await using gateway = openTestGateway('http://127.0.0.1:1');
  const asking = lookUpDoubts(
    opened.context,
    { account, gateway, rate },
    { run, named: undefined },
    { stop: new AbortController().signal, onAnswer: () => undefined },
  );
  await expect(asking).rejects.toThrow(InputError);
  await expect(asking).rejects.toThrow(words);
});
