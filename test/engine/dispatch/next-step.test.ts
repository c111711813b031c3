import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../../src/engine/dispatch/next-step.ts';
import {
  nextStep,
  type Step,
  type StepContext,
  withholdingReason,
} from '../../../src/engine/dispatch/next-step.ts';

const finishedAt = new Date('2026-10-21T07:28:00Z');

/** The first attempt, with half of the jitter. */
const ordinary: StepContext = {
  attempts: 1,
  stopping: false,
  breakerOpen: false,
  recipients: 3,
  bisect: false,
  random: 0.5,
};

function stepAfter(outcome: Outcome, circumstances: Partial<StepContext> = {}): Step {
  return nextStep({ outcome, finishedAt }, { ...ordinary, ...circumstances });
}

const refused: Outcome = { kind: 'retry', reason: 'HTTP 503' };
const refusedWith = (retryAfter: string): Outcome => ({ ...refused, retryAfter });
const accepted: Outcome = { kind: 'accepted' };
const rejected: Outcome = { kind: 'rejected', words: ['Bad number'] };
const unauthorized: Outcome = { kind: 'unauthorized', words: ['Who are you?'] };
const inDoubt: Outcome = { kind: 'in_doubt', reason: 'no answer in time' };
const unsendable: Outcome = { kind: 'unsendable', reason: 'a file is missing' };
const withheld: Outcome = { kind: 'withheld', because: 'window_shut' };

const givenBack = { state: 'planned', verdict: 'released' } as const;
const pausesTheRun = { state: 'planned', verdict: 'unauthorized' } as const;
const whole = { state: 'rejected', divide: false } as const;
const divided = { state: 'rejected', divide: true } as const;

const later = { attempts: 9 };
const stopping = { stopping: true };
const breakerOpen = { breakerOpen: true };

describe('nextStep for an attempt that settles its request', () => {
  test.each<[string, Outcome, Partial<StepContext>, Extract<Step, { kind: 'settle' }>['as']]>([
    ['that was accepted', accepted, {}, { state: 'accepted' }],
    [
      'that was accepted as a job',
      { ...accepted, jobNumber: 'J7' },
      {},
      { state: 'accepted', jobNumber: 'J7' },
    ],
    ['that was rejected', rejected, {}, whole],
    ['that was rejected, where rejected ones are divided', rejected, { bisect: true }, divided],
    ['of one recipient that was rejected', rejected, { bisect: true, recipients: 1 }, whole],
    ['of two recipients that was rejected', rejected, { bisect: true, recipients: 2 }, divided],
    ['that may have arrived', inDoubt, {}, { state: 'in_doubt' }],
    ['with a refused credential', unauthorized, {}, pausesTheRun],
    ['that cannot be expressed', unsendable, {}, { state: 'failed' }],
    ['that was not sent', withheld, {}, givenBack],
    ['that was refused as the run stops', refused, stopping, givenBack],
    ['that was refused by a service that refuses everything', refused, breakerOpen, givenBack],
  ])('an attempt %s settles its request', (_, outcome, circumstances, as) => {
    expect(stepAfter(outcome, circumstances)).toEqual({ kind: 'settle', as });
  });

  test.each([accepted, rejected, unauthorized, inDoubt, unsendable, withheld])(
    'the outcome %o settles its request in the same way in any context',
    (outcome) => {
      const plain = stepAfter(outcome);
      expect(plain.kind).toBe('settle');
      for (const circumstances of [later, stopping, breakerOpen, { ...stopping, ...breakerOpen }]) {
        expect(stepAfter(outcome, circumstances)).toEqual(plain);
      }
    },
  );
});

describe('nextStep for a request that is sent again', () => {
  test.each<[string, Outcome, Partial<StepContext>, number]>([
    ['after the jitter alone', refused, {}, 250],
    ['at once, where the draw is 0', refused, { random: 0 }, 0],
    ['after a longer jitter after more attempts', refused, { attempts: 4 }, 2_000],
    ['after a jitter of ten seconds at most', refused, { attempts: 40 }, 5_000],
    ['after what Retry-After asks for and the jitter', refusedWith('5'), {}, 5_250],
    ['after the jitter where Retry-After asks for nothing', refusedWith('0'), {}, 250],
    ['at the time that Retry-After names', refusedWith('Wed, 21 Oct 2026 07:28:05 GMT'), {}, 5_250],
    ['after the jitter where that is over', refusedWith('Wed, 21 Oct 2026 07:27:00 GMT'), {}, 250],
    ['after a minute where it names next year', refusedWith('Thu, 21 Oct 2027 07:28:00 GMT'), {}, 60_250],
    ['after a minute where it asks for a day', refusedWith('86400'), {}, 60_250],
    ['after a minute where its number has no end', refusedWith('9'.repeat(400)), {}, 60_250],
    ['after the jitter where it asks for less than nothing', refusedWith('-5'), {}, 250],
    ['after the jitter where it says nothing that can be read', refusedWith('soon'), {}, 250],
    ['after the jitter where it is empty', refusedWith(''), {}, 250],
  ])('a refused request is sent again %s', (_, outcome, circumstances, after) => {
    expect(stepAfter(outcome, circumstances)).toEqual({ kind: 'retry', after });
  });
});

describe('withholdingReason', () => {
  const allowed = { stopping: false, held: true, windowOpen: true, breakerOpen: false };

  test('a request leaves if nothing prevents it', () => {
    expect(withholdingReason(allowed)).toBeUndefined();
  });

  test.each([
    [{ stopping: true }, 'stopping'],
    [{ held: false }, 'not_held'],
    [{ windowOpen: false }, 'window_shut'],
    [{ breakerOpen: true }, 'service_refuses'],
    [{ stopping: true, held: false, windowOpen: false, breakerOpen: true }, 'stopping'],
  ])('a request does not leave with %o', (circumstances, reason) => {
    expect(withholdingReason({ ...allowed, ...circumstances })).toBe(reason);
  });
});
