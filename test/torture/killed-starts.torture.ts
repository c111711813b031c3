import { expect, test } from 'vitest';
import { killStarts } from '../support/kill-starts.ts';

const kills = Number(process.env['VOLLEY_TORTURE_KILLS'] ?? 100);

test(`each of ${kills} killed starts over the API is one run after the call is repeated`, async () => {
  const { answered, runs, lost } = await killStarts(kills, `long-${kills}`);
  console.log(JSON.stringify({ starts: kills, lost, runs: runs.length }));
  expect(runs.map(({ run }) => run)).toEqual(answered);
  expect(new Set(runs.map(({ state }) => state))).toEqual(new Set(['running']));
  // Some starts were not finished when killed.
  expect(lost).toBeGreaterThan(kills / 10);
});
