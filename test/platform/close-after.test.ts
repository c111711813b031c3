import { expect, test } from 'vitest';
import { closeAfter } from '../../src/platform/close-after.ts';

test('what work has opened is closed after it, the last first', async () => {
  const steps: string[] = [];
  const result = await closeAfter(async (defer) => {
    defer(() => steps.push('first'));
    defer(async () => steps.push('second'));
    steps.push('work');
    return 7;
  });
  expect(result).toBe(7);
  expect(steps).toEqual(['work', 'second', 'first']);
});

test('a close that fails keeps no other from closing, and its error is thrown', async () => {
  const steps: string[] = [];
  const closing = closeAfter(async (defer) => {
    defer(() => steps.push('first'));
    defer(() => Promise.reject(new Error('does not close')));
  });
  await expect(closing).rejects.toThrow('does not close');
  expect(steps).toEqual(['first']);
});

test('the error of the work is thrown after everything is closed', async () => {
  const steps: string[] = [];
  const closing = closeAfter(async (defer) => {
    defer(() => steps.push('closed'));
    defer(() => Promise.reject(new Error('does not close')));
    throw new Error('does not work');
  });
  await expect(closing).rejects.toThrow('does not work');
  expect(steps).toEqual(['closed']);
});
