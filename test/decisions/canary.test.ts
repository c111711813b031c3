import { expect, test } from 'vitest';
import {
  type CanaryCounts,
  type CanarySettings,
  decideCanary,
  operatorRecord,
} from '../../src/decisions/canary.ts';
import { decisionText } from '../../src/domain/decisions.ts';

const settings: CanarySettings = {
  observe: 1_800_000,
  promote: 'auto',
  abort: { rejected: 0.02, undelivered: 0.1, unreported: 0.5 },
};

const noRecipients = { accepted: 0, delivered: 0, undelivered: 0, rejected: 0, failed: 0, unknown: 0 };

/** Requests with one recipient each. */
function sent(recipients: Partial<CanaryCounts['recipients']>, isSent = true): CanaryCounts {
  const all = { ...noRecipients, ...recipients };
  const settled = Object.values(all).reduce((sum, count) => sum + count, 0);
  return { isSent, requests: { settled, rejected: all.rejected + all.failed }, recipients: all };
}

test('a canary that is not sent, or whose reports are not in, is observed', () => {
  expect(decideCanary(settings, sent({ delivered: 20 }, false), 1_800_000)).toBeUndefined();
  expect(decideCanary(settings, sent({ accepted: 1, delivered: 499 }), 1_799_999)).toBeUndefined();
  expect(decideCanary(settings, sent({ unknown: 1, delivered: 499 }), 0)).toBeUndefined();
});

test('a run is promoted when all reports are in and nothing is above its limit', () => {
  expect(decideCanary(settings, sent({ delivered: 480, undelivered: 20 }), 60_000)).toEqual({
    kind: 'canary promoted',
    record: {
      cause: 'all reports',
      observedMs: 60_000,
      alpha: 0.01,
      shares: [
        { what: 'rejected', found: 0, of: 500, limit: 0.02, probability: 1 },
        { what: 'undelivered', found: 20, of: 500, limit: 0.1, probability: 1 },
        { what: 'unreported', found: 0, of: 500, limit: 0.5, probability: 1 },
      ],
    },
  });
});

test('when the time is over, missing reports are counted too', () => {
  const over = 1_800_000;
  expect(decideCanary(settings, sent({ accepted: 250, delivered: 250 }), over)).toMatchObject({
    kind: 'canary promoted',
    record: { cause: 'time' },
  });
  expect(decideCanary(settings, sent({ accepted: 251, delivered: 249 }), over)).toMatchObject({
    kind: 'canary aborted',
    pause: { what: 'unreported', recipients: 251, of: 500, limit: 0.5 },
  });
  expect(decideCanary(settings, sent({ unknown: 500 }), over)).toMatchObject({
    pause: { what: 'unreported' },
  });
});

test('a share above its limit aborts at the end, even if it may be chance', () => {
  const counts = sent({ delivered: 445, undelivered: 55 });
  expect(decideCanary(settings, counts, 60_000)).toMatchObject({
    kind: 'canary aborted',
    pause: { what: 'undelivered', recipients: 55, of: 500, limit: 0.1 },
    record: { cause: 'all reports' },
  });
});

test('the evidence aborts before the reports are in, and before all of the canary is sent', () => {
  expect(decideCanary(settings, sent({ accepted: 400, undelivered: 100 }), 1_000)).toMatchObject({
    kind: 'canary aborted',
    pause: { what: 'undelivered', recipients: 100, of: 100 },
    record: { cause: 'evidence' },
  });
  expect(decideCanary(settings, sent({ rejected: 10, accepted: 10 }, false), 0)).toMatchObject({
    kind: 'canary aborted',
    pause: { what: 'rejected', recipients: 10, of: 20 },
    record: { cause: 'evidence' },
  });
});

test('failures that are reported before deliveries are no evidence: those without a report may be delivered', () => {
  expect(decideCanary(settings, sent({ accepted: 465, undelivered: 35 }), 1_000)).toBeUndefined();
  expect(decideCanary(settings, sent({ delivered: 465, undelivered: 35 }), 2_000)).toMatchObject({
    kind: 'canary promoted',
  });
});

test('one rejected request of many recipients is no evidence, and is counted at the end', () => {
  const counts = { ...sent({ rejected: 200, accepted: 300 }), requests: { settled: 3, rejected: 1 } };
  expect(decideCanary(settings, counts, 0)).toBeUndefined();
  expect(decideCanary(settings, counts, 1_800_000)).toMatchObject({ pause: { what: 'rejected' } });
});

test('with promote: manual, a canary within its limits asks a person', () => {
  const manual = { ...settings, promote: 'manual' } as const;
  expect(decideCanary(manual, sent({ delivered: 500 }), 0)).toMatchObject({ kind: 'canary waits' });
  expect(decideCanary(manual, sent({ accepted: 500 }), 0)).toBeUndefined();
  expect(decideCanary(manual, sent({ undelivered: 500 }), 0)).toMatchObject({ kind: 'canary aborted' });
});

test('a canary of which nothing was accepted says nothing, so a person decides', () => {
  const only = { ...settings, abort: { rejected: 0.02 } };
  expect(decideCanary(only, sent({}), 0)).toMatchObject({
    kind: 'canary waits',
    record: { cause: 'all reports' },
  });
  expect(decideCanary(only, sent({ unknown: 500 }), 1_800_000)).toMatchObject({ kind: 'canary waits' });
  expect(decideCanary(only, sent({ unknown: 499, accepted: 1 }), 1_800_000)).toMatchObject({
    kind: 'canary promoted',
  });
});

test('shares that have no limit are neither compared nor recorded', () => {
  const only = { ...settings, abort: { rejected: 0.02 } };
  expect(decideCanary(only, sent({ accepted: 500 }), 1_800_000)).toMatchObject({
    kind: 'canary promoted',
    record: { shares: [{ what: 'rejected', found: 0, of: 500 }] },
  });
});

test('a record says what was found, by which test, and how often that errs', () => {
  const text = (counts: CanaryCounts, observedMs: number): string => {
    const decided = decideCanary(settings, counts, observedMs);
    return decided ? decisionText(decided.kind, decided.record) : 'observed';
  };
  expect(text(sent({ delivered: 480, undelivered: 20 }), 60_000)).toBe(
    'All delivery reports are in, and the shares were compared with their limits: 0 of 500 rejected (limit 2%), 20 of 500 undelivered (limit 10%), 0 of 500 unreported (limit 50%). A sequential test had looked before: if the true shares are within their limits, it aborts at most 1% of such runs.',
  );
  expect(text(sent({ accepted: 400, undelivered: 100 }), 1_000)).toMatch(
    /^Sequential test \(mixture of likelihood ratios\): .*100 of 100 undelivered .* with a probability of at most 0?[\d.e-]*%; it aborts at most 1% of such runs\.$/,
  );
  const record = operatorRecord(settings.abort, sent({ accepted: 500 }), 90_000);
  expect(decisionText('canary promoted', record)).toMatch(/^After 90s: 0 of 500 rejected/);
  expect(decisionText('canary promoted', { since: 'tomorrow' })).toBe(
    'Another version of Volley recorded it.',
  );
});
