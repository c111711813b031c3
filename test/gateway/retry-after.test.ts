import { expect, test } from 'vitest';
import { maxRetryAfter, retryAfterMilliseconds } from '../../src/gateway/retry-after.ts';

const now = new Date('2026-10-21T07:28:00Z');

test.each([
  ['7', 7000],
  [' 0 ', 0],
  ['60', 60_000],
  ['61', maxRetryAfter],
  ['3600', 60_000],
  ['99999999999999999999999', maxRetryAfter],
  ['Wed, 21 Oct 2026 07:28:05 GMT', 5000],
  ['Wed, 21 Oct 2026 07:00:00 GMT', 0],
  ['Wed, 21 Oct 2027 07:28:00 GMT', maxRetryAfter],
  ['-1', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['Wed, 99 Oct 2026 07:28:05 GMT', undefined],
  ['', undefined],
  [undefined, undefined],
])('a Retry-After of %j means %j milliseconds', (text, milliseconds) => {
  expect(retryAfterMilliseconds(text, now)).toBe(milliseconds);
});
