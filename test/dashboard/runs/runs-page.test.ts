import { expect, test } from 'vitest';
import { summaryPart } from '../../../src/dashboard/runs/runs-page.ts';
import type { GroupedRun } from '../../../src/engine/live/run-list.ts';
import { noCounts } from '../../support/run-counts.ts';

const viewer = { zone: 'UTC', mayRun: true, mayApprove: true, mayAdmin: true };
const night = { from: new Date('2026-11-26T18:00:00Z'), until: new Date('2026-11-27T09:00:00Z') };

function aRun(
  recipients: Partial<GroupedRun['counts']['recipients']>,
  currency: string | null,
  price = '0',
): GroupedRun {
  const cost = currency === null ? null : { price, estimated: '1.5' };
  return {
    counts: { ...noCounts, recipients: { ...noCounts.recipients, ...recipients } },
    figures: { plannedBy: null, plannedHow: null, currency, cost },
  };
}

const shown = (ofNight: readonly GroupedRun[]): string =>
  summaryPart({ running: [], waiting: [], ofNight, night }, viewer)
    .text.replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

test('runs of the night are added up: the recipients sent to, the share delivered, and the cost in each currency', () => {
  const text = shown([
    aRun({ accepted: 1_000, delivered: 8_999, undelivered: 1 }, 'NZD', '800.125'),
    aRun({ accepted: 0, delivered: 1_000 }, 'AUD'),
    aRun({ rejected: 7, pending: 9 }, 'NZD', '0.01'),
    aRun({}, 'AUD', '2.000'),
  ]);
  expect(text).toContain('Last night: 4 runs Sent 11,000 Delivered 90.9 % Cost 800.135 NZD, 3.50 AUD');
  expect(text).toContain('Running now: no run Sent 0 Delivered – Cost –');
});

test('a night without a run, and more runs than are added up, are named', () => {
  expect(shown([])).toContain('Last night: no run');
  expect(shown(Array.from({ length: 500 }, () => aRun({}, null)))).toContain('Last night: at least 500 runs');
});
