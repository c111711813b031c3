import { expect, test } from 'vitest';
import { readQuestion } from '../../../src/dashboard/runs/filter.ts';
import { runsPart } from '../../../src/dashboard/runs/runs-part.ts';
import { aLiveRun } from '../../support/live-run.ts';

test('the list of runs says when its figures were read, if that is longer ago than two seconds', () => {
  const { head, progress, at } = aLiveRun({ state: 'running' });
  const line = { head, progress, waits: [], rate: undefined, secondsLeft: null, figures: undefined };
  const viewer = { zone: 'UTC', mayRun: false, mayApprove: false, mayAdmin: false };
  const captionAfter = (milliseconds: number): string | undefined => {
    const figuresAsOf = new Date(at.getTime() - milliseconds);
    const list = { waiting: [], moreWaiting: 0, runs: [line], hasMore: false, held: null, at, figuresAsOf };
    const { text } = runsPart(
      { question: readQuestion({}), list: { ...list, unapplied: undefined } },
      viewer,
    );
    return /<caption>(.*?)<\/caption>/.exec(text)?.[1]?.replaceAll(/<.*?>/g, '');
  };
  expect(captionAfter(2_000)).toBe('Runs, the newest first');
  expect(captionAfter(60_000)).toBe('Runs, the newest first as of 2026-09-26 12:59:00');
});
