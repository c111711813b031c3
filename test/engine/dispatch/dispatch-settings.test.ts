import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dispatchSettings, failFastOf } from '../../../src/engine/dispatch/dispatch-settings.ts';
import { accountSlicesLimit } from '../../../src/ledger/slices/enqueue.ts';

const account = { name: 'main', concurrency: 16, statusLookUp: false };
const oldest = { dispatch: { concurrency: 8, retries: 3 } };

function settings(dispatch: object, changes: Partial<typeof account> = {}) {
  return dispatchSettings(
    'run',
    { ...account, ...changes },
    { dispatch: { ...oldest.dispatch, ...dispatch } },
  );
}

test('an account’s concurrency is divided equally among its slices', () => {
  expect(settings({}, { concurrency: 16 })).toMatchObject({ plan: { maxAccountSlices: 4 }, concurrency: 4 });
  expect(settings({}, { concurrency: 6 })).toMatchObject({ plan: { maxAccountSlices: 3 }, concurrency: 2 });
  expect(settings({}, { concurrency: 10 })).toMatchObject({ plan: { maxAccountSlices: 2 }, concurrency: 5 });
  expect(settings({}, { concurrency: 7 })).toMatchObject({ plan: { maxAccountSlices: 1 }, concurrency: 7 });
  expect(settings({}, { concurrency: 1 })).toMatchObject({ plan: { maxAccountSlices: 1 }, concurrency: 1 });
});

test('a campaign with a lower concurrency has fewer slices, or fewer requests in flight in its only slice', () => {
  expect(settings({ concurrency: 16 })).toMatchObject({ plan: { maxRunSlices: 4 }, concurrency: 4 });
  expect(settings({ concurrency: 8 })).toMatchObject({ plan: { maxRunSlices: 2 }, concurrency: 4 });
  expect(settings({ concurrency: 3 })).toMatchObject({ plan: { maxRunSlices: 1 }, concurrency: 3 });
});

test('the requests in flight never exceed the limit of the account or of the campaign', () => {
  const amount = fc.integer({ min: 1, max: 200 });
  fc.assert(
    fc.property(amount, amount, (allowed, wanted) => {
      const { plan, concurrency } = settings({ concurrency: wanted }, { concurrency: allowed });
      expect(plan.maxAccountSlices).toBeLessThanOrEqual(accountSlicesLimit);
      expect(plan.maxAccountSlices * concurrency).toBeLessThanOrEqual(allowed);
      expect(plan.maxRunSlices * concurrency).toBeLessThanOrEqual(wanted);
      expect(Math.min(plan.maxRunSlices, plan.maxAccountSlices, concurrency)).toBeGreaterThanOrEqual(1);
    }),
  );
});

test('the slices of a run are grouped by its account', () => {
  expect(settings({}, { name: 'night' }).plan).toMatchObject({ run: 'run', account: 'night' });
});

test('an old definition without the newer keys holds doubts, keeps rejected requests and sends its first slice with the others', () => {
  expect(dispatchSettings('run', account, oldest)).toEqual({
    plan: {
      run: 'run',
      account: 'main',
      maxAccountSlices: 4,
      maxRunSlices: 2,
      firstAlone: false,
      priority: 'normal' as const,
    },
    policy: { lookUp: false, resends: 0 },
    concurrency: 4,
    repeat: 0,
    retries: 3,
    bisect: false,
    giveUpAfter: 3_600_000,
    failFast: undefined,
  });
});

test('requests in doubt are sent again only with onUnknown: resend, and as often as resends says', () => {
  expect(settings({ onUnknown: 'resend', resends: 2 }).policy.resends).toBe(2);
  expect(settings({ onUnknown: 'hold', resends: 2 }).policy.resends).toBe(0);
});

test('requests in doubt are looked up if the account has a status look-up', () => {
  expect(settings({}, { statusLookUp: true }).policy.lookUp).toBe(true);
});

test('rejected requests are divided only with onRejected: bisect', () => {
  expect(settings({ onRejected: 'bisect' }).bisect).toBe(true);
  expect(settings({ onRejected: 'keep' }).bisect).toBe(false);
});

test('with failFast, the first slice is sent alone', () => {
  const failFast = { first: 20, share: 0.1 };
  expect(settings({ failFast })).toMatchObject({ plan: { firstAlone: true }, failFast });
  expect(failFastOf({ dispatch: { ...oldest.dispatch, failFast } })).toEqual(failFast);
});
