import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseCounts, chooseTimes } from '../../../src/report/html/time-bars.ts';

test.each([
  [0, [0, 1]],
  [1, [0, 1]],
  [6, [0, 1, 2, 3, 4, 5, 6]],
  [7, [0, 2, 4, 6, 8]],
  [1_001, [0, 200, 400, 600, 800, 1_000, 1_200]],
])('a scale up to %d has %j', (most, counts) => {
  expect(chooseCounts(most)).toEqual(counts);
});

test('every scale starts at zero, ends within a step of the highest figure, and has few whole steps', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (most) => {
      const counts = chooseCounts(most);
      const [step = 0, last = 0] = [counts[1], counts.at(-1)];
      expect(counts.length).toBeLessThanOrEqual(7);
      expect(String(step)).toMatch(/^[125]0*$/);
      expect(last).toBeGreaterThanOrEqual(most);
      expect(last - step).toBeLessThanOrEqual(most);
    }),
  );
});

const day = 86_400_000;
const labels = (first: string, last: string, apart: number, band: number) =>
  chooseTimes(Date.parse(first), Date.parse(last), apart, band).map(({ label }) => label);

test.each([
  ['each day', '2026-10-30', '2026-11-02', 100, ['30 Oct', '31 Oct', '1 Nov', '2 Nov']],
  ['each Monday', '2026-11-01', '2026-11-30', 12, ['2 Nov', '9 Nov', '16 Nov', '23 Nov', '30 Nov']],
  ['each quarter', '2026-12-02', '2027-07-02', 1, ['Jan 2027', 'Apr 2027', 'Jul 2027']],
  ['each second year', '2021-03-05', '2026-05-17', 0.1, ['2022', '2024', '2026']],
])('days are labelled %s, as space allows', (_, first, last, band, named) => {
  expect(labels(first, last, day, band)).toEqual(named);
});

test('seconds are labelled across midnight, as space allows', () => {
  const named = labels('2026-11-03T23:59:50Z', '2026-11-04T00:00:20Z', 1_000, 10);
  expect(named).toEqual(['23:59:50', '4 Nov', '00:00:10', '00:00:20']);
});

test('minutes across midnight show the new day there', () => {
  const named = labels('2026-11-03T23:50Z', '2026-11-04T01:19Z', 60_000, 4);
  expect(named).toEqual(['4 Nov', '00:15', '00:30', '00:45', '01:00', '01:15']);
});

test('days are never labelled with hours', () => {
  expect(labels('2026-11-01', '2026-11-01', day, 400)).toEqual(['1 Nov']);
});
