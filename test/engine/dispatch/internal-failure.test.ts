import { expect, test } from 'vitest';
import { createAddressCheck } from '../../../src/engine/dispatch/address-check.ts';
import { createRecorder } from '../../../src/engine/dispatch/checkpoint.ts';
import { createCheckpointer } from '../../../src/engine/dispatch/checkpointer.ts';
import { checkLedgerLocation } from '../../../src/engine/dispatch/ledger-location.ts';
import { createOutageRetry } from '../../../src/engine/dispatch/outage-retry.ts';
import { createRangeSource } from '../../../src/engine/dispatch/range-source.ts';
import { createRateLimiter } from '../../../src/engine/dispatch/rate-limiter.ts';
import type { Gateway } from '../../../src/gateway/gateway.ts';
import { openTestGateway } from '../../gateway/test-peers.ts';
import { anAccount } from '../../support/account.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { sendPeer } from '../../support/send-peer.ts';
import { acquireSliceOf } from '../../support/slices.ts';
import { testLedger } from '../../support/test-ledger.ts';

/** A fault of Volley must never look as if nothing was sent. */

const opened = testLedger();

/** A slice of three requests. */
async function openSlice() {
  const { context, ledger } = opened;
  const never = new AbortController().signal;
  const run = await planContacts(ledger, aRun({ chunkSize: 1 }), [aContact(2), aContact(3), aContact(4)]);
  const slice = await acquireSliceOf(ledger, run);
  const outageRetry = createOutageRetry({ onDown: () => {}, onUp: () => {} }, ledger, never);
  const record = createRecorder(ledger.hot, outageRetry);
  const location = await checkLedgerLocation(context);
  const recorded: number[] = [];
  const checkpoint = createCheckpointer(
    context,
    outageRetry,
    location.ledger,
  )(slice, {
    onAccepted: ({ request }) => recorded.push(request),
    onFailed: () => {},
    record,
  });
  const sourceWith = (gateway: Gateway) =>
    createRangeSource(
      {
        context,
        outageRetry,
        record,
        slice,
        onSettled: () => {},
        account: anAccount(),
        observer: {},
        gateway,
        limiter: createRateLimiter(context, anAccount()),
        breaker: undefined,
        addressCheck: createAddressCheck(20, async () => undefined),
        settings: { retries: 0, bisect: false, concurrency: 1 },
        lease: { isValid: () => true, ensureValid: async () => true },
        isWindowOpen: () => true,
        stop: never,
        cutOff: never,
      },
      checkpoint,
    );
  const claimedTo = async () => {
    const { rows } = await ledger.pool.query<{ claimed_to: number }>(
      'SELECT claimed_to FROM slices WHERE run_id = $1 AND slice = $2',
      [run, slice.slice],
    );
    return rows[0]?.claimed_to;
  };
  return { context, slice, checkpoint, sourceWith, claimedTo, recorded };
}

test('a request whose answer could not be classified is not returned with the unsent requests', async () => {
  await using service = await sendPeer(() => ({ kind: 'accepted' }));
  await using gateway = openTestGateway(service.url);
  const { sourceWith, claimedTo } = await openSlice();
  const classify = (): never => {
    throw new Error('a bug of ours');
  };
  const source = sourceWith({ ...gateway, classify });
  await source.available(3);
  const [first, ...others] = await source.claim(3);
  if (!first) throw new Error('nothing was claimed');
  const sending = { claimed: first, contents: new Map<string, string>(), probe: undefined };
  await expect(source.send(sending)).rejects.toThrow('a bug of ours');
  await source.release(others, 'stopping');
  await source.end();
  expect(service.calls).toHaveLength(1);
  expect(await claimedTo()).toBe(1);
});

test('after a claim that could not be marked, no accepted request counts as recorded', async () => {
  const { context, checkpoint, recorded, slice } = await openSlice();
  const accepted = (request: number) => ({
    ...slice,
    request,
    messageId: `M${request}`,
    recipients: 1,
    state: 'accepted' as const,
    attempt: 1,
    finishedAt: new Date(),
    tookMs: 1,
    httpStatus: 200,
    detail: null,
  });
  const { marks } = context.ledger;
  const write = marks.write;
  Object.assign(marks, {
    write: () => {
      throw new Error('no space left on device');
    },
  });
  const { rows } = await opened.ledger.pool.query<{ epoch: string }>(
    'SELECT CAST(epoch AS text) AS epoch FROM suppression_epoch',
  );
  checkpoint.flush();
  await expect(
    checkpoint.claim({ after: slice.claimedTo, to: slice.last, epoch: rows[0]?.epoch ?? '' }),
  ).rejects.toThrow('no space');
  Object.assign(marks, { write });
  checkpoint.accept(accepted(1));
  await checkpoint.whenRecorded();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(recorded).toEqual([]);
  await expect(checkpoint.releaseClaim({ after: slice.last, to: 0 })).rejects.toThrow('no space');
});
