import { expect, test } from 'vitest';
import { failFastReason } from '../../src/decisions/guard.ts';

const plenty = 1_000;

test('a run goes on while fewer than the first requests are answered', () => {
  expect(failFastReason({ first: 10, share: 0.1 }, { settled: 9, rejected: 9 }, plenty)).toBeUndefined();
});

test('a run stops when all of the first requests are rejected', () => {
  expect(failFastReason({ first: 10 }, { settled: 10, rejected: 10 }, plenty)).toEqual({
    kind: 'all_rejected',
    requests: 10,
  });
});

test('without a share, one accepted request lets the run go on', () => {
  expect(failFastReason({ first: 10 }, { settled: 10, rejected: 9 }, plenty)).toBeUndefined();
});

test.each([
  [{ settled: 100, rejected: 10 }, undefined],
  [
    { settled: 100, rejected: 11 },
    { kind: 'too_many_rejected', rejected: 11, requests: 100, share: 0.1 },
  ],
  [{ settled: 500, rejected: 50 }, undefined],
  [
    { settled: 500, rejected: 51 },
    { kind: 'too_many_rejected', rejected: 51, requests: 500, share: 0.1 },
  ],
])('with a share of 10 %%, the result of %o is %s', (answered, reason) => {
  expect(failFastReason({ first: 10, share: 0.1 }, answered, plenty)).toEqual(reason);
});

test('with a share of 0, the first rejected request stops the run', () => {
  expect(failFastReason({ first: 1, share: 0 }, { settled: 50, rejected: 0 }, plenty)).toBeUndefined();
  expect(failFastReason({ first: 1, share: 0 }, { settled: 50, rejected: 1 }, plenty)).toBeDefined();
});

test('a run with fewer requests than first is checked when all are answered', () => {
  expect(failFastReason({ first: 10 }, { settled: 2, rejected: 2 }, 3)).toBeUndefined();
  expect(failFastReason({ first: 10 }, { settled: 3, rejected: 3 }, 3)).toBeDefined();
});

test('a run without any answer goes on', () => {
  expect(failFastReason({ first: 0, share: 0 }, { settled: 0, rejected: 0 }, plenty)).toBeUndefined();
});
