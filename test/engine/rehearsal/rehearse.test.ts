import { expect, test } from 'vitest';
import { createWindowGate } from '../../../src/campaign/window.ts';
import type { CanarySettings } from '../../../src/decisions/canary.ts';
import type { GuardSettings } from '../../../src/decisions/guard.ts';
import { type RehearsedRun, rehearse } from '../../../src/engine/rehearsal/rehearse.ts';
import { chooseService, type Service } from '../../../src/engine/rehearsal/service.ts';
import { type Group, type Lot, noCounts } from '../../../src/engine/rehearsal/simulated-run.ts';

const begin = new Date('2026-11-20T08:00Z');
const minute = 60_000;

/** 70 % at one destination, the others at another. */
function lot(
  recipients: number,
  { isCanary = false, undeliveredAt = () => 0.01, gate }: Partial<Lot & Group> = {},
): Lot {
  const group = (destination: string, share: number, at: Group['undeliveredAt']) =>
    [{ destination, isCanary, undeliveredAt: at, counts: noCounts() }, recipients * share] as const;
  const left = new Map([group('+61411', 0.7, () => 0.01), group('+61412', 0.3, undeliveredAt)]);
  return { isCanary, gate, sendAt: null, left };
}

const run = (changes: Partial<RehearsedRun> = {}): RehearsedRun => ({
  begin,
  lots: [lot(10_000)],
  perSecond: 100,
  chunk: 10,
  canary: undefined,
  guard: undefined,
  failFast: undefined,
  usual: undefined,
  ...changes,
});

const canary: CanarySettings = {
  observe: 30 * minute,
  promote: 'auto',
  abort: { rejected: 0.02, undelivered: 0.1, unreported: 0.5 },
};

const guard: GuardSettings = { undelivered: { above: 0.05, usual: false }, first: 20, action: 'pause' };

/** `after`: minutes since the begin. */
const played = (changes: Partial<RehearsedRun> = {}, seed = 1, given: Partial<Service> = {}) => {
  const { steps, ...rest } = rehearse(run(changes), chooseService([['given', given]]), seed);
  return {
    ...rest,
    steps: steps.map((step) => ({
      what: step.kind === 'decided' ? step.decision : step.kind,
      after: (step.at.getTime() - begin.getTime()) / minute,
      sent: step.sent,
    })),
  };
};

test('a run without a canary and a guard ends when all is sent at its rate', () => {
  const { steps, counts, recipients } = played();
  expect(recipients).toBe(10_000);
  expect(steps.map(({ what }) => what)).toEqual(['begun', 'completed']);
  expect(steps.at(-1)?.sent).toBe(10_000);
  // 100 recipients a second.
  expect(steps.at(-1)?.after).toBeCloseTo(100 / 60, 1);
  expect(counts.accepted).toBe(10_000);
  expect(counts.delivered).toBeGreaterThan(9_700);
  expect(counts.delivered).toBeLessThan(9_860);
});

test('a healthy canary is sent first and promoted, at the latest when its time is over', () => {
  const { steps } = played({ canary, lots: [lot(200, { isCanary: true }), lot(10_000)] });
  expect(steps.map(({ what }) => what)).toEqual(['begun', 'canary sent', 'canary promoted', 'completed']);
  expect(steps[1]?.sent).toBe(200);
  expect(steps[2]?.sent).toBe(200);
  expect(steps[2]?.after).toBeGreaterThan(30);
  expect(steps[2]?.after).toBeLessThan(31.5);
  expect(steps[3]?.sent).toBe(10_200);
});

test('a canary with too many undelivered recipients pauses the run, and the rest is not sent to', () => {
  const { steps, counts } = played({
    canary,
    lots: [lot(200, { isCanary: true, undeliveredAt: () => 0.4 }), lot(10_000)],
  });
  expect(steps.map(({ what }) => what).at(-2)).toBe('canary aborted');
  expect(steps.at(-1)?.what).toBe('paused');
  expect(counts.sent).toBeLessThanOrEqual(200);
});

test('a guard pauses a run whose delivery falls in the middle, and one that only warns lets it go on', () => {
  const falling = () => [lot(10_000, { undeliveredAt: (sent) => (sent < 0.5 ? 0.01 : 0.4) })];
  const paused = played({ lots: falling(), guard });
  expect(paused.steps.map(({ what }) => what)).toEqual(['begun', 'guard stopped', 'paused']);
  expect(paused.counts.sent).toBeGreaterThan(5_000);
  expect(paused.counts.sent).toBeLessThan(10_000);
  const warned = played({ lots: falling(), guard: { ...guard, action: 'warn' } });
  expect(warned.steps.map(({ what }) => what)).toEqual(['begun', 'guard warned', 'completed']);
});

test('a run waits for its window', () => {
  const office = { days: [1, 2, 3, 4, 5], from: 9 * 60, to: 17 * 60 };
  const gate = createWindowGate(office, { zones: ['UTC'], sendAt: null });
  const { steps } = played({ lots: [lot(10_000, { gate })] });
  expect(steps.map(({ what, after }) => [what, Math.round(after)])).toEqual([
    ['begun', 0],
    ['window closed', 0],
    ['window open', 60],
    ['completed', 62],
  ]);
});

test('a run that its service rejects is paused by failFast, after its first requests', () => {
  const failFast = { first: 20, share: 0.2 };
  const all = played({ failFast }, 1, { rejected: 1 });
  expect(all.steps.map(({ what }) => what)).toEqual(['begun', 'rejected', 'paused']);
  expect(all.counts.sent).toBeLessThan(500);
  const many = played({ failFast }, 1, { rejected: 0.3 });
  expect(many.steps.map(({ what }) => what)).toEqual(['begun', 'rejected', 'paused']);
  expect(played({ failFast }, 1, { rejected: 0.1 }).steps.at(-1)?.what).toBe('completed');
});

test('reports that take days do not make a rehearsal slow', () => {
  const { counts } = played({ lots: [lot(1_000_000)], perSecond: 5 }, 1, {
    reportAfter: { half: 3_600_000, most: 172_800_000 },
  });
  expect(counts.delivered).toBeGreaterThan(975_000);
});

test('a rehearsal with the same seed is the same, and another seed draws other numbers', () => {
  expect(played({}, 7)).toEqual(played({}, 7));
  expect(played({}, 7).counts).not.toEqual(played({}, 8).counts);
});

test('a campaign of a million recipients and of days is played in counts', () => {
  const { steps, recipients } = played({
    canary,
    guard,
    lots: [lot(200, { isCanary: true }), lot(1_000_000)],
    perSecond: 5,
  });
  expect(recipients).toBe(1_000_200);
  expect(steps.at(-1)?.what).toBe('completed');
  expect(steps.at(-1)?.after).toBeGreaterThan(3_333);
});
