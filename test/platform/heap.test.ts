import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const heap = new URL('../../src/platform/heap.ts', import.meta.url).href;

/** Keeps many short-lived objects for a while, as a dispatch at full speed does, and prints the largest young generation (MiB). */
const script = `
  import { getHeapSpaceStatistics } from 'node:v8';
  // The timers of a busy process run late: here after all is done.
  globalThis.setInterval = (work) => {
    work();
    return { unref() {} };
  };
  const { keepHeapSmall } = await import(${JSON.stringify(heap)});
  keepHeapSmall();
  const kept = new Array(60_000);
  let most = 0;
  for (let made = 0; made < 3_000_000; ) {
    for (let part = 0; part < 2_000; part++) kept[made++ % kept.length] = { made, text: 'x' + made, list: [made, { made }] };
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    most = Math.max(most, young.space_size / 1024 ** 2);
    await new Promise((resolve) => setImmediate(resolve));
  }
  console.log(most);
`;

test('a process at full speed keeps the young generation of its heap small', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  expect(Number(stdout)).toBeLessThanOrEqual(32);
});
