import { expect, test } from 'vitest';
import { createAddressCheck } from '../../../src/engine/dispatch/address-check.ts';
import { attemptOnce, type Sender } from '../../../src/engine/dispatch/attempt-once.ts';
import { createOutageRetry } from '../../../src/engine/dispatch/outage-retry.ts';
import { createRateLimiter } from '../../../src/engine/dispatch/rate-limiter.ts';
import { retryRequest } from '../../../src/engine/dispatch/request-source.ts';
import type { Gateway } from '../../../src/gateway/gateway.ts';
import { openTestGateway } from '../../gateway/test-peers.ts';
import { anAccount } from '../../support/account.ts';
import { accountAt, execute } from '../../support/execute.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { toStoredDestinations } from '../../support/outgoing.ts';
import { type SendPeer, sendPeer } from '../../support/send-peer.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const claimed = {
  request: 1,
  messageId: 'M1',
  attempt: 1,
  envelope: anEnvelope({ Message: 'Hello' }),
  destinations: toStoredDestinations([{ Recipient: '+61400000001' }]),
};

/** A lease that must be renewed before each request. */
const staleLease = (ensureValid: Sender['lease']['ensureValid']): Sender['lease'] => ({
  isValid: () => false,
  ensureValid,
});

async function send(
  service: SendPeer,
  changes: Partial<Sender>,
  classify?: (gateway: Gateway) => Gateway['classify'],
): ReturnType<typeof retryRequest> {
  const { context } = opened;
  const never = new AbortController().signal;
  await using gateway = openTestGateway(service.url);
  const sender: Sender = {
    context,
    outageRetry: createOutageRetry({ onDown: () => {}, onUp: () => {} }, context.ledger, never),
    gateway: { ...gateway, ...(classify && { classify: classify(gateway) }) },
    limiter: createRateLimiter(context, anAccount()),
    breaker: undefined,
    account: anAccount(),
    observer: {},
    addressCheck: createAddressCheck(20, async () => undefined),
    slice: { run: 'run', slice: 1, owner: '00000000-0000-4000-8000-000000000000', channel: 'sms' },
    settings: { retries: 0, bisect: false },
    lease: staleLease(async () => true),
    isWindowOpen: () => true,
    stop: never,
    cutOff: never,
    ...changes,
  };
  const prepared = { claimed, contents: new Map(), probe: undefined };
  return await retryRequest(sender, prepared, await attemptOnce(sender, prepared, 1));
}

test('an outage during the check of the lease is waited out', async () => {
  await using service = await sendPeer(() => ({ kind: 'accepted' }));
  let asked = 0;
  const ensureLease = async () => {
    if (++asked === 1) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    return true;
  };
  expect(await send(service, { lease: staleLease(ensureLease) })).toMatchObject({ state: 'accepted' });
});

test('a failure after sending is thrown, even while the run is stopping', async () => {
  await using service = await sendPeer(() => ({ kind: 'accepted' }));
  const stop = new AbortController();
  const broken = send(service, { stop: stop.signal }, () => () => {
    stop.abort();
    throw new Error('a bug of ours');
  });
  await expect(broken).rejects.toThrow('a bug of ours');
  expect(service.calls).toHaveLength(1);
});

test('a request whose lease may be lost is not sent and is returned', async () => {
  await using service = await sendPeer(() => ({ kind: 'accepted' }));
  expect(await send(service, { lease: staleLease(async () => false) })).toMatchObject({
    state: 'planned',
    verdict: 'released',
    attempt: 1,
  });
  expect(service.calls).toEqual([]);
});

test('an answer after the stop of the run is kept', async () => {
  const stop = new AbortController();
  await using service = await sendPeer(() => {
    stop.abort();
    return { kind: 'accepted' };
  });
  expect(await send(service, { stop: stop.signal })).toMatchObject({ state: 'accepted', attempt: 1 });
});

test('a request that another owner has at its next attempt is neither sent again nor settled', async () => {
  await using service = await sendPeer(() => ({ kind: 'busy' }));
  expect(await send(service, { settings: { retries: 3, bisect: false } })).toBeUndefined();
  expect(service.calls).toHaveLength(1);
});

test.each([0, 1, 3])('a request that the service always refuses fails after %i retries', async (retries) => {
  await using service = await sendPeer(() => ({ kind: 'busy' }));
  const run = await planContacts(
    opened.ledger,
    aRun({ definition: { dispatch: { concurrency: 1, retries } } }),
    [aContact(2)],
  );
  const withoutJitter = { ...opened.context, random: () => 0 };
  const { summary } = await execute(withoutJitter, run, accountAt(service.url));
  expect(summary.requests).toMatchObject({ total: 1, failed: 1 });
  expect(service.calls).toHaveLength(1 + retries);
});
