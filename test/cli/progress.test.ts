import { describe, expect, test } from 'vitest';
import { bar, stageText, startRunProgress } from '../../src/cli/runs/progress.ts';
import type { DispatchProgress } from '../../src/ledger/slices/progress.ts';
import { plainScreen } from '../../src/report/screen.ts';
import { noCounts } from '../support/run-counts.ts';

describe('the progress line of a stage', () => {
  test('the progress line has a bar, the count, the rate and the time left', () => {
    const state = { part: 250, whole: 1_000, done: '250/1000 requests', count: 250 };
    expect(stageText('sending', 5_000, state)).toBe(
      '  sending  ██████░░░░░░░░░░░░░░░░░░ 250/1000 requests, 50/s, 15 s left',
    );
  });

  test('the rate does not count what was done before the process started', () => {
    const state = { part: 600, whole: 1_000, before: 500, done: '600/1000 requests', count: 100 };
    expect(stageText('sending', 10_000, state)).toMatch(/600\/1000 requests, 10\/s, 40 s left$/);
  });

  test('the progress line has neither bar nor time left if the total is unknown', () => {
    const state = { part: 4_096, whole: undefined, done: '100 contacts', count: 100 };
    expect(stageText('reading', 1_000, state)).toBe('  reading  100 contacts, 100/s');
  });

  test('the bar gets shorter, then vanishes, so that the line fits the screen', () => {
    const state = {
      part: 250,
      whole: 1_000,
      done: '250/1000 requests',
      count: 250,
      more: ', 7 not accepted',
    };
    expect(stageText('sending', 5_000, state, 80)).toBe(
      '  sending  ████░░░░░░░░░░░░░░ 250/1000 requests, 50/s, 15 s left, 7 not accepted',
    );
    for (const width of [62, 66, 70, 80])
      expect(stageText('sending', 5_000, state, width).length).toBeLessThanOrEqual(width);
    expect(stageText('sending', 5_000, state, 62)).toBe(
      '  sending  250/1000 requests, 50/s, 15 s left, 7 not accepted',
    );
  });

  test('the progress line shows no time left before the start or after the end', () => {
    const nothing = { part: 0, whole: 10, done: '0/10 requests', count: 0 };
    expect(stageText('sending', 1_000, nothing)).not.toMatch(/left/);
    expect(stageText('sending', 1_000, { ...nothing, part: 10, count: 10 })).not.toMatch(/left/);
  });
});

test('a bar is never longer than the whole, even if more was done than expected', () => {
  expect(bar(12, 10)).toBe(bar(10, 10));
  expect(bar(0, 0)).toBe(bar(1, 1));
});

test('the rate of a run does not count the time that it waited for its window', async () => {
  const began = new Date('2026-11-22T08:00Z').getTime();
  let time = began;
  const lines: string[] = [];
  const progress = await startRunProgress({
    terminal: false,
    noteScreen: plainScreen,
    now: () => new Date(time),
    note: (text) => lines.push(text),
  });
  const watch: DispatchProgress = {
    state: 'running',
    stateReason: null,
    counts: noCounts,
    total: 1_000,
    settled: 0,
    notAccepted: 0,
    settledSince: 0,
    rejectedSince: 0,
    phase: 'sending',
    heldSlices: 0,
    opensAt: null,
    preemptedBy: null,
    canary: null,
    rest: null,
    idleSince: null,
    refusal: null,
  };
  const opensAt = new Date('2026-11-22T20:00Z');
  for (const at of [began, opensAt.getTime()]) {
    time = at;
    progress.onProgress({ ...watch, opensAt });
  }
  time += 10_000;
  progress.onProgress({ ...watch, settled: 500 });
  expect(lines.at(-1)).toMatch(/500\/1000 requests, 50\/s, 10 s left$/);
});
