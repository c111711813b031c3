import { expect, test } from 'vitest';
import { countBetween, sendAtRate } from '../support/rate.ts';
import { testLedger } from '../support/test-ledger.ts';
import { volley } from '../support/volley.ts';

const opened = testLedger();

const perSecond = 200;

test.each([1, 4])(
  'a rate of 200 a second is kept within two per cent over 30 seconds by %i processes',
  async (processes) => {
    const { arrivals, workers } = await sendAtRate(opened, {
      processes,
      perSecond,
      requests: 32 * perSecond,
    });
    const seconds = Array.from({ length: 30 }, (_, second) =>
      countBetween(arrivals, second * 1_000, (second + 1) * 1_000),
    );
    const total = countBetween(arrivals, 0, 30_000);
    console.log(`${workers} processes: ${total} in 30 seconds; by the second ${seconds.join(' ')}`);
    expect(workers).toBe(processes);
    expect(total).toBeGreaterThanOrEqual(0.98 * 30 * perSecond);
    expect(total).toBeLessThanOrEqual(1.02 * 30 * perSecond);
  },
);

test('four processes follow a rate that changes during a run', async () => {
  let changed = Number.POSITIVE_INFINITY;
  const { arrivals } = await sendAtRate(
    opened,
    { processes: 4, perSecond, requests: 10 * perSecond + 20 * 50 },
    async (surroundings) => {
      await new Promise((resolve) => setTimeout(resolve, 12_000));
      await volley(['account', 'limits', 'sandbox', '--requests-per-second', '50'], surroundings);
      changed = performance.now();
    },
  );
  const after = arrivals.filter((at) => at >= changed + 1_000 && at < changed + 11_000).length;
  console.log(`${after} in 10 seconds at 50 a second`);
  expect(after).toBeGreaterThanOrEqual(490);
  expect(after).toBeLessThanOrEqual(510);
});
