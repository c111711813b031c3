import { expect, test } from 'vitest';
import { createWindowGate } from '../../../src/campaign/window.ts';
import type { GuardSettings } from '../../../src/decisions/guard.ts';
import { type RehearsedRun, rehearse } from '../../../src/engine/rehearsal/rehearse.ts';
import { assumed } from '../../../src/engine/rehearsal/service-model.ts';
import type { Group } from '../../../src/engine/rehearsal/simulated-run.ts';
import type { Lot } from '../../../src/engine/rehearsal/simulated-sending.ts';

const begin = new Date('2026-11-20T08:00Z');
const minute = 60_000;

const usual = () => assumed.reports;
const bad = () => ({ delivered: 0.6, undelivered: 0.39 });

const groups = (reportsAt: Group['reportsAt'] = usual): readonly Group[] =>
  [true, false].flatMap((isCanary) => [
    { isCanary, destination: '+61411', reportsAt: usual },
    { isCanary, destination: '+61412', reportsAt },
  ]);

const lot = (left: readonly number[], gate?: Lot['gate']): Lot => ({
  gate,
  sendAt: null,
  chunk: 10,
  left: [...left],
});

const run = (changes: Partial<RehearsedRun> = {}): RehearsedRun => ({
  begin,
  groups: groups(),
  canary: undefined,
  lots: [lot([0, 0, 7_000, 3_000])],
  speed: { requests: 10, recipients: Number.POSITIVE_INFINITY },
  guard: undefined,
  usual: undefined,
  deadline: undefined,
  ...changes,
});

const canary = (): RehearsedRun['canary'] => ({
  settings: {
    observe: 30 * minute,
    promote: 'auto',
    abort: { rejected: 0.02, undelivered: 0.1, unreported: 0.5 },
  },
  lots: [lot([140, 60, 0, 0])],
});

const guard: GuardSettings = { undelivered: { above: 0.05, usual: false }, first: 20, action: 'pause' };

/** `after`: minutes since the begin. */
const played = (changes: Partial<RehearsedRun> = {}, seed = 1) => {
  const { steps, ...rest } = rehearse(run(changes), assumed, seed);
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
  const { steps } = played({ canary: canary() });
  expect(steps.map(({ what }) => what)).toEqual(['begun', 'canary sent', 'canary promoted', 'completed']);
  expect(steps[1]?.sent).toBe(200);
  expect(steps[2]?.sent).toBe(200);
  expect(steps[2]?.after).toBeGreaterThan(30);
  expect(steps[2]?.after).toBeLessThan(31.5);
  expect(steps[3]?.sent).toBe(10_200);
});

test('a canary with too many undelivered recipients pauses the run, and the rest is not sent to', () => {
  const { steps, counts } = played({ groups: groups(bad), canary: canary() });
  expect(steps.map(({ what }) => what).at(-2)).toBe('canary aborted');
  expect(steps.at(-1)?.what).toBe('paused');
  expect(counts.sent).toBeLessThanOrEqual(200);
});

test('a guard pauses a run whose delivery falls in the middle, and one that only warns lets it go on', () => {
  const falling = groups((sent) => (sent < 0.5 ? usual() : bad()));
  const paused = played({ groups: falling, guard });
  expect(paused.steps.map(({ what }) => what)).toEqual(['begun', 'guard stopped', 'paused']);
  expect(paused.counts.sent).toBeGreaterThan(5_000);
  expect(paused.counts.sent).toBeLessThan(10_000);
  const warned = played({ groups: falling, guard: { ...guard, action: 'warn' } });
  expect(warned.steps.map(({ what }) => what)).toEqual(['begun', 'guard warned', 'completed']);
});

test('a run waits for its window, and says how many are not sent to before the deadline', () => {
  const office = { days: [1, 2, 3, 4, 5], from: 9 * 60, to: 17 * 60 };
  const gate = createWindowGate(office, { zones: ['UTC'], sendAt: null });
  const { steps, late } = played({
    lots: [lot([0, 0, 7_000, 3_000], gate)],
    deadline: new Date('2026-11-20T09:01Z'),
  });
  expect(steps.map(({ what, after }) => [what, Math.round(after)])).toEqual([
    ['begun', 0],
    ['window closed', 0],
    ['window open', 60],
    ['deadline', 61],
    ['completed', 62],
  ]);
  expect(late).toBeGreaterThan(3_900);
  expect(late).toBeLessThan(4_100);
});

test('a rehearsal with the same seed is the same, and another seed draws other numbers', () => {
  expect(played({}, 7)).toEqual(played({}, 7));
  expect(played({}, 7).counts).not.toEqual(played({}, 8).counts);
});

test('a campaign of a million recipients and of days is played in counts', () => {
  const { steps, recipients } = played({
    canary: canary(),
    guard,
    lots: [lot([0, 0, 700_000, 300_000])],
    speed: { requests: 0.5, recipients: Number.POSITIVE_INFINITY },
  });
  expect(recipients).toBe(1_000_200);
  expect(steps.at(-1)?.what).toBe('completed');
  expect(steps.at(-1)?.after).toBeGreaterThan(3_333);
});
