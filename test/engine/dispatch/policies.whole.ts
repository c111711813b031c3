import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { InputError } from '../../../src/domain/problems.ts';
import type { RunSummary } from '../../../src/domain/runs.ts';
import { createOutageRetry } from '../../../src/engine/dispatch/outage-retry.ts';
import { runWorker } from '../../../src/engine/dispatch/worker.ts';
import { executeRun, type RunEnd } from '../../../src/engine/runs/execute-run.ts';
import { requireSummary } from '../../../src/engine/runs/find-run.ts';
import { cancel, pause, waitUntilIdle } from '../../../src/engine/runs/stop-run.ts';
import type { Account } from '../../../src/gateway/account.ts';
import { anAccount } from '../../support/account.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { type SendCall, sendPeer } from '../../support/send-peer.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';

const opened = testLedger();

const never = new AbortController().signal;
const noEvents = { onStart: () => {}, onProgress: () => {}, onDown: () => {}, onUp: () => {} };

/** The last two digits of an address are its line, from 02. */
function planRun(
  contacts: number,
  chunkSize: number,
  dispatch: object = {},
  firstRequests: number | null = null,
) {
  const definition = { dispatch: { concurrency: 4, retries: 1, ...dispatch } };
  return planContacts(
    opened.ledger,
    aRun({ chunkSize, definition, firstRequests }),
    Array.from({ length: contacts }, (_, index) => aContact(index + 2)),
  );
}

async function execute(
  run: string,
  account: Partial<Account>,
): Promise<{ end: RunEnd; summary: RunSummary }> {
  const end = await executeRun(opened.context, run, {
    accountNamed: async () => anAccount(account),
    stop: never,
    events: noEvents,
  });
  return { end, summary: await requireSummary(opened.context, run) };
}

const poison = '+61400000013';
const rejectsPoison = ({ recipients }: SendCall) =>
  recipients.includes(poison)
    ? { kind: 'rejected' as const, words: 'Bad number' }
    : { kind: 'accepted' as const };

describe('executeRun with a rejected request of several recipients', () => {
  test('a rejected request stays as it is without onRejected', async () => {
    await using service = await sendPeer(rejectsPoison);
    const { summary } = await execute(await planRun(16, 16), { baseUrl: service.url });
    expect(summary.requests).toMatchObject({ total: 1, rejected: 1 });
    expect(summary.recipients).toMatchObject({ total: 16, rejected: 16 });
  });

  test('onRejected: bisect divides a rejected request until only the rejected recipient is left', async () => {
    await using service = await sendPeer(rejectsPoison);
    const { end, summary } = await execute(await planRun(48, 16, { onRejected: 'bisect' }), {
      baseUrl: service.url,
    });
    expect(end.kind).toBe('finished');
    expect(summary.recipients).toMatchObject({ total: 48, accepted: 47, rejected: 1, pending: 0 });
    // Of 16 recipients, a half is rejected four times; the other halves are accepted.
    expect(summary.requests).toMatchObject({ total: 3 + 8, accepted: 6, rejected: 5, planned: 0 });
    const accepted = service.accepted().flatMap(({ recipients }) => recipients);
    expect(new Set(accepted).size).toBe(47);
    expect(accepted).toHaveLength(47);
    expect(new Set(service.calls.map(({ messageId }) => messageId)).size).toBe(service.calls.length);
  });
});

describe('executeRun with failFast', () => {
  const all = () => ({ kind: 'rejected' as const, words: 'No' });

  test('failFast sends the first requests alone, and pauses the run when all are rejected', async () => {
    await using service = await sendPeer(all);
    const failFast = { first: 6 };
    const { end, summary } = await execute(await planRun(40, 1, { failFast }, 6), { baseUrl: service.url });
    expect(end).toMatchObject({
      kind: 'paused',
      reason: 'the service rejected all of the first 6 requests (failFast)',
    });
    expect(summary).toMatchObject({ state: 'paused', requests: { rejected: 6, planned: 34 } });
    expect(service.calls).toHaveLength(6);
  });

  test('failFast lets the run go on when one of the first requests is accepted', async () => {
    let calls = 0;
    await using service = await sendPeer(() =>
      ++calls === 3 ? { kind: 'accepted' } : { kind: 'rejected', words: 'No' },
    );
    const { end, summary } = await execute(await planRun(10, 1, { failFast: { first: 5 } }, 5), {
      baseUrl: service.url,
    });
    expect(end.kind).toBe('finished');
    expect(summary.requests).toMatchObject({ accepted: 1, rejected: 9 });
  });

  test('failFast pauses the run later, when more than the share is rejected', async () => {
    let calls = 0;
    await using service = await sendPeer(async () => {
      await sleep(5);
      return ++calls % 4 === 0 ? { kind: 'rejected', words: 'No' } : { kind: 'accepted' };
    });
    const failFast = { first: 8, share: 0.1 };
    const { end, summary } = await execute(await planRun(600, 1, { failFast }, 8), { baseUrl: service.url });
    expect(end).toMatchObject({
      kind: 'paused',
      reason: expect.stringMatching(/more than 10% \(failFast\)/),
    });
    expect(summary.requests.planned).toBeGreaterThan(0);
  });
});

describe('executeRun after a pause by failFast', () => {
  test('a resumed run is sent when the service accepts it, and rejected requests stay rejected', async () => {
    let fixed = false;
    await using service = await sendPeer(async () => {
      await sleep(20);
      return fixed ? { kind: 'accepted' } : { kind: 'rejected', words: 'No' };
    });
    const run = await planRun(120, 1, { failFast: { first: 6, share: 0.05 } }, 6);
    expect((await execute(run, { baseUrl: service.url })).end.kind).toBe('paused');
    fixed = true;
    const { end, summary } = await execute(run, { baseUrl: service.url });
    expect(end).toMatchObject({ kind: 'finished' });
    expect(summary.requests).toMatchObject({ accepted: 114, rejected: 6 });
  });

  test('a resumed run pauses again when the service still rejects it', async () => {
    await using service = await sendPeer(async () => {
      await sleep(20);
      return { kind: 'rejected', words: 'No' };
    });
    const run = await planRun(600, 1, { failFast: { first: 6 } }, 6);
    expect((await execute(run, { baseUrl: service.url })).end.kind).toBe('paused');
    const { end, summary } = await execute(run, { baseUrl: service.url });
    expect(end).toMatchObject({ kind: 'paused', reason: expect.stringMatching(/failFast/) });
    expect(summary.requests.planned).toBeGreaterThan(0);
  });
});

describe('executeRun with requests in doubt', () => {
  test('onUnknown: resend sends a request in doubt again with the same MessageID, after all others', async () => {
    await using service = await sendPeer(({ call }) =>
      call === 1 ? { kind: 'lost' } : { kind: 'accepted' },
    );
    const { end, summary } = await execute(await planRun(5, 1, { onUnknown: 'resend', resends: 2 }), {
      baseUrl: service.url,
    });
    expect(end.kind).toBe('finished');
    expect(summary.requests).toMatchObject({ accepted: 5, in_doubt: 0 });
    const ids = service.calls.map(({ messageId }) => messageId);
    expect(new Set(ids.slice(0, 5))).toEqual(new Set(ids.slice(5)));
    expect(ids).toHaveLength(10);
  });

  test('a request in doubt is held after its last resend', async () => {
    await using service = await sendPeer(() => ({ kind: 'lost' }));
    const { end, summary } = await execute(await planRun(2, 1, { onUnknown: 'resend', resends: 2 }), {
      baseUrl: service.url,
    });
    expect(end.kind).toBe('finished');
    expect(summary.requests).toMatchObject({ in_doubt: 2 });
    expect(service.calls).toHaveLength(6);
  });

  test('the status look-up settles a request in doubt, if the service knows it', async () => {
    await using service = await sendPeer(({ number }) =>
      number % 2 ? { kind: 'lost' } : { kind: 'dropped' },
    );
    const { end, summary } = await execute(await planRun(2, 1), { baseUrl: service.url, statusLookUp: true });
    expect(end.kind).toBe('finished');
    expect(summary.requests).toMatchObject({ accepted: 1, in_doubt: 1 });
    expect(service.calls).toHaveLength(2);
  });
});

describe('executeRun beside another process', () => {
  test('a pause takes effect at once, and resuming sends the rest once', async () => {
    await using service = await sendPeer(async () => {
      await sleep(20);
      return { kind: 'accepted' };
    });
    const run = await planRun(200, 1);
    const running = execute(run, { baseUrl: service.url });
    while (service.calls.length < 10) await sleep(5);
    await pause(opened.context, run, 'lunch');
    await waitUntilIdle(opened.context, run, never);
    const sent = service.calls.length;
    expect(sent).toBeLessThan(200);
    const { end, summary } = await running;
    expect(end).toMatchObject({ kind: 'paused', reason: 'lunch' });
    expect(summary.requests).toMatchObject({ accepted: sent, planned: 200 - sent, sending: 0, in_doubt: 0 });
    expect((await execute(run, { baseUrl: service.url })).summary.requests).toMatchObject({ accepted: 200 });
    expect(service.calls).toHaveLength(200);
  });

  test('a cancelled run sends nothing more', async () => {
    await using service = await sendPeer(async () => {
      await sleep(20);
      return { kind: 'accepted' };
    });
    const run = await planRun(200, 1);
    const running = execute(run, { baseUrl: service.url });
    while (service.calls.length < 10) await sleep(5);
    await cancel(opened.context, run, 'a mistake');
    const { end, summary } = await running;
    expect(end).toMatchObject({ kind: 'cancelled', reason: 'a mistake' });
    const sent = service.calls.length;
    expect(summary).toMatchObject({
      state: 'cancelled',
      requests: { accepted: sent, cancelled: 200 - sent, planned: 0, sending: 0 },
    });
    expect((await execute(run, { baseUrl: service.url })).end.kind).toBe('cancelled');
    expect(service.calls).toHaveLength(sent);
    expect(await problemsRejected(() => pause(opened.context, run, 'x'))).toEqual([
      `run ${run}: The run is cancelled already; there is nothing to stop.`,
    ]);
  });

  test('a worker sends requests of a run, but only of accounts that it has', async () => {
    await using service = await sendPeer(async () => {
      await sleep(2);
      return { kind: 'accepted' };
    });
    const stop = new AbortController();
    const helping = new Set<string>();
    const helper = (accountNamed: (name: string) => Promise<Account>) =>
      runWorker(opened.context, {
        accountNamed,
        stop: stop.signal,
        cutOff: never,
        outageRetry: createOutageRetry(noEvents, opened.ledger, never),
      });
    const stranger = helper(async (name) => {
      helping.add(`stranger asked for ${name}`);
      throw new InputError([{ where: 'accounts.yaml', what: `no account ${name}` }]);
    });
    const friend = helper(async (name) => {
      helping.add(`friend asked for ${name}`);
      return anAccount({ baseUrl: service.url });
    });
    const { end, summary } = await execute(await planRun(2_200, 1, { concurrency: 16 }), {
      baseUrl: service.url,
    });
    stop.abort();
    await Promise.all([stranger, friend]);
    expect(end.kind).toBe('finished');
    expect(summary.requests).toMatchObject({ accepted: 2_200 });
    expect(service.calls).toHaveLength(2_200);
    expect(helping).toContain('friend asked for sandbox');
  });
});
