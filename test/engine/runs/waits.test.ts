import { expect, test } from 'vitest';
import { isLeftToPerson } from '../../../src/domain/waits.ts';
import { type WaitFacts, waitsOf } from '../../../src/engine/runs/waits.ts';
import { waitWords } from '../../../src/report/wait-words.ts';
import { noCounts } from '../../support/run-counts.ts';

const now = new Date('2026-11-22T08:00Z');
const progress: WaitFacts['progress'] = {
  state: 'running',
  stateReason: null,
  counts: noCounts,
  total: 100,
  settled: 10,
  notAccepted: 0,
  settledSince: 10,
  rejectedSince: 0,
  phase: 'sending',
  heldSlices: 1,
  opensAt: null,
  preemptedBy: null,
  canary: null,
  rest: null,
  idleSince: now,
  refusal: null,
};
const sending: WaitFacts = {
  progress,
  onHold: null,
  workers: 1,
  now,
  perSecond: { requests: 48, recipients: 96 },
};
const kindsOf = (facts: Partial<WaitFacts>): string[] =>
  waitsOf({ ...sending, ...facts }).map(({ kind }) => kind);
const doubts = { ...noCounts, requests: { ...noCounts.requests, in_doubt: 2 } };
const running = (changes: Partial<WaitFacts['progress']>): Partial<WaitFacts> => ({
  progress: { ...progress, ...changes },
});

test('a run that is sent without a limit waits for nothing', () => {
  expect(kindsOf({})).toEqual([]);
});

test('a run waits for its rate if it uses nearly all permits of a limit', () => {
  const limits = { requestsPerSecond: 50, recipientsPerSecond: null };
  expect(kindsOf({ limits })).toEqual(['rate']);
  expect(kindsOf({ limits: { requestsPerSecond: null, recipientsPerSecond: 100 } })).toEqual(['rate']);
  expect(kindsOf({ limits, perSecond: { requests: 20, recipients: 40 } })).toEqual([]);
});

test('a running run waits for the service, for its window, or for a more urgent run', () => {
  const refusal = { since: new Date(0), retryAt: new Date(1), reason: 'HTTP 503' };
  expect(kindsOf(running({ refusal }))).toEqual(['service']);
  expect(kindsOf(running({ opensAt: new Date(1), heldSlices: 0 }))).toEqual(['window']);
  expect(waitsOf({ ...sending, ...running({ preemptedBy: 'urgent-1' }) })).toEqual([
    { kind: 'urgent run', run: 'urgent-1' },
  ]);
});

const definition = {
  recipients: { kind: 'share', share: 0.02 },
  observe: 1_800_000,
  promote: 'auto',
  abort: { rejected: 0.02 },
};
const canary = { isSent: true, observedMs: 600_000, lookedAt: now, definition };

test('a run whose canary is sent waits for its reports, or for the time in which they are waited for', () => {
  const recipients = { ...noCounts.recipients, accepted: 88, delivered: 300, undelivered: 12 };
  const idle = { heldSlices: 0, idleSince: new Date(0), counts: { ...noCounts, recipients } };
  expect(waitsOf({ ...sending, ...running({ ...idle, canary }) })).toEqual([
    {
      kind: 'canary',
      since: new Date('2026-11-22T07:50Z'),
      until: new Date('2026-11-22T08:20Z'),
      reported: 312,
      recipients: 400,
      asksPerson: false,
    },
  ]);
  expect(kindsOf(running({ canary: { ...canary, isSent: false } }))).toEqual([]);
  const manual = { ...canary, definition: { ...definition, promote: 'manual' } };
  const [wait] = waitsOf({ ...sending, ...running({ ...idle, canary: manual }) });
  expect(wait && waitWords(wait, 'UTC').next).toBe(
    'The run pauses until a person promotes it, by 2026-11-22 08:20:00 UTC. To send the rest now, promote it.',
  );
  expect(kindsOf({ ...running({ ...idle, canary }), workers: 0 })).toEqual(['worker']);
});

test('a run that its canary paused waits for a person who promotes it', () => {
  const stateReason = { kind: 'canary_waits' } as const;
  const paused = { state: 'paused', stateReason } as const;
  expect(waitsOf({ ...sending, ...running({ ...paused, canary }) })).toEqual([
    { kind: 'promotion', reason: stateReason },
  ]);
  expect(isLeftToPerson(paused)).toBe(true);
});

test('a run waits for a worker if none runs, or if none takes it for ten seconds although nothing else keeps it', () => {
  const idleSince = new Date(now.getTime() - 11_000);
  expect(kindsOf({ workers: 0 })).toEqual(['worker']);
  expect(kindsOf({ ...running({ opensAt: new Date(1), heldSlices: 0 }), workers: 0 })).toEqual(['worker']);
  expect(kindsOf(running({ heldSlices: 0, idleSince }))).toEqual(['worker']);
  expect(kindsOf(running({ heldSlices: 0 }))).toEqual([]);
  expect(kindsOf(running({ heldSlices: 0, idleSince, opensAt: new Date(1) }))).toEqual(['window']);
  expect(kindsOf(running({ heldSlices: 0, idleSince: null }))).toEqual([]);
  expect(kindsOf(running({ heldSlices: 0, idleSince, phase: 'settling doubts' }))).toEqual([]);
  const reason = { kind: 'lacks_attempt' } as const;
  expect(kindsOf({ onHold: reason, workers: 0 })).toEqual(['ledger on hold', 'worker']);
  expect(kindsOf({ onHold: reason })).toEqual(['ledger on hold']);
});

test('a run that is not running waits for approval, a start or a resumption, and for a ledger on hold', () => {
  const why = { kind: 'many_recipients', recipients: 10, limit: 5 } as const;
  const stateReason = { kind: 'waits_for_approval', why } as const;
  expect(kindsOf(running({ state: 'planned', stateReason }))).toEqual(['approval']);
  expect(kindsOf(running({ state: 'planned' }))).toEqual(['start']);
  expect(kindsOf(running({ state: 'paused', stateReason: 'asked' }))).toEqual(['resume']);
  expect(kindsOf(running({ state: 'completed', settled: 100 }))).toEqual([]);
});

test('a run is left to a person until it is approved, or resumed after a pause, but not after an interruption', () => {
  const why = { kind: 'every_run' } as const;
  const runs = [
    { state: 'planned', stateReason: { kind: 'waits_for_approval', why } },
    { state: 'paused', stateReason: 'asked' },
    { state: 'paused', stateReason: null },
    { state: 'planned', stateReason: { kind: 'approved', by: 'Ana' } },
    { state: 'paused', stateReason: { kind: 'interrupted' } },
    { state: 'running', stateReason: null },
  ] as const;
  expect(runs.map(isLeftToPerson)).toEqual([true, true, true, false, false, false]);
});

test('requests in doubt wait for a decision, whatever the run does', () => {
  expect(kindsOf(running({ counts: doubts }))).toEqual(['doubts']);
  expect(kindsOf(running({ state: 'completed', settled: 100, counts: doubts }))).toEqual(['doubts']);
});
