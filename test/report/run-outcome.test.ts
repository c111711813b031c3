import { expect, test } from 'vitest';
import { recipientStates } from '../../src/domain/runs.ts';
import {
  contactWords,
  countOutcomes,
  deliveredShare,
  runStateWords,
  statesOf,
} from '../../src/report/run/run-outcome.ts';
import { noCounts } from '../support/run-counts.ts';

const recipients = { ...noCounts.recipients, total: 10, pending: 2, accepted: 1, delivered: 4, rejected: 3 };

test('outcomes that occur are counted, each with its states, and together they are all contacts', () => {
  const counts = countOutcomes(recipients, { invalid: 1, duplicate: 0, suppressed: 2 });
  expect(counts).toEqual([
    { outcome: 'delivered', count: 4, states: [] },
    {
      outcome: 'waiting',
      count: 3,
      states: [
        { state: 'pending', count: 2 },
        { state: 'accepted', count: 1 },
      ],
    },
    { outcome: 'not accepted', count: 3, states: [{ state: 'rejected', count: 3 }] },
    {
      outcome: 'left out',
      count: 3,
      states: [
        { state: 'invalid', count: 1 },
        { state: 'suppressed', count: 2 },
      ],
    },
  ]);
});

test('every state of a recipient is in one outcome, and can be asked for by its own name', () => {
  const outcomes = countOutcomes(noCounts.recipients, { invalid: 0, duplicate: 0, suppressed: 0 });
  expect(outcomes).toEqual([]);
  for (const state of recipientStates) expect([...new Set(contactWords.flatMap(statesOf))]).toContain(state);
  expect(statesOf(undefined)).toEqual(recipientStates);
  expect(statesOf('not accepted')).toEqual(['rejected', 'failed']);
  expect(statesOf('failed')).toEqual(['failed']);
});

test('the share that is delivered is never all before the last, and there is none of nothing', () => {
  expect(deliveredShare({ accepted: 8, delivered: 1 })).toBe('12.5');
  expect(deliveredShare({ accepted: 100_000, delivered: 99_999 })).toBe('99.9');
  expect(deliveredShare({ accepted: 7, delivered: 7 })).toBe('100.0');
  expect(deliveredShare({ accepted: 7, delivered: 0 })).toBe('0.0');
  expect(deliveredShare({ accepted: 0, delivered: 0 })).toBeNull();
});

test('a completed run whose recipients are not all known is called so', () => {
  expect(runStateWords('completed', 0)).toBe('completed');
  expect(runStateWords('completed', 1)).toBe('completed with unknown');
  expect(runStateWords('paused', 1)).toBe('paused');
});
