import { describe, expect, test } from 'vitest';
import { bar, stageText } from '../../src/cli/progress.ts';

describe('the line of a stage', () => {
  test('has a bar, what is done, how fast it goes and how long it still takes', () => {
    const state = { part: 250, whole: 1_000, done: '250/1000 requests', count: 250 };
    expect(stageText('sending', 5_000, state)).toBe(
      '  sending  ██████░░░░░░░░░░░░░░░░░░ 250/1000 requests, 50/s, 15 s left',
    );
  });

  test('does not count for the rate what was done before the process began', () => {
    const state = { part: 600, whole: 1_000, began: 500, done: '600/1000 requests', count: 100 };
    expect(stageText('sending', 10_000, state)).toMatch(/600\/1000 requests, 10\/s, 40 s left$/);
  });

  test('has neither bar nor time left where nobody knows how much there is', () => {
    const state = { part: 4_096, whole: undefined, done: '100 contacts', count: 100 };
    expect(stageText('reading', 1_000, state)).toBe('  reading  100 contacts, 100/s');
  });

  test('promises no time before anything is done, nor after all is', () => {
    const nothing = { part: 0, whole: 10, done: '0/10 requests', count: 0 };
    expect(stageText('sending', 1_000, nothing)).not.toMatch(/left/);
    expect(stageText('sending', 1_000, { ...nothing, part: 10, count: 10 })).not.toMatch(/left/);
  });
});

test('a bar is never longer than the whole, though more was done than was thought to be there', () => {
  expect(bar(12, 10)).toBe(bar(10, 10));
  expect(bar(0, 0)).toBe(bar(1, 1));
});
