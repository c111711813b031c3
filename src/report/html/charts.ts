import { Big } from 'big.js';
import { addAmounts } from '../../platform/money.ts';
import { printable } from '../printable.ts';
import { formatUnitStart, type TimeUnit } from '../time.ts';
import { type Bar, drawBars } from './bars.ts';
import type { Chart, ChartTable } from './chart.ts';
import { groupThousands, share } from './figures.ts';
import { drawTime } from './time-bars.ts';

/** @param steps such as contacts, recipients, accepted; shares refer to the first */
export function createFunnelChart(
  title: string,
  steps: readonly { readonly name: string; readonly count: number }[],
): Chart {
  const whole = steps[0]?.count ?? 0;
  const bars = steps.map(({ name, count }) => {
    return {
      name: printable(name),
      label: `${groupThousands(count)}${whole === 0 ? '' : ` (${share(count, whole)})`}`,
      length: count,
    };
  });
  const description = bars.map(({ name, label }) => `${name} ${label}`).join(', ');
  return { title, description, table: tableOf(['Step', 'Number'], bars), ...drawBars(bars) };
}

const maxBars = 15;

type NamedAmount = { readonly name: string; readonly value: string };

/**
 * Draws the largest figures, and the sum of all others.
 *
 * @param bars exact decimals, in any order; names may repeat
 * @param more the sum of further bars
 */
export function createBarChart(
  title: string,
  bars: readonly NamedAmount[],
  more: { readonly count: number; readonly value: string } = { count: 0, value: '0' },
): Chart {
  const sorted = bars.toSorted(
    (one, other) => new Big(other.value).cmp(one.value) || (one.name < other.name ? -1 : 1),
  );
  const count = more.count === 0 && sorted.length <= maxBars + 1 ? sorted.length : maxBars;
  const [shown, others] = [sorted.slice(0, count), sorted.slice(count)];
  const rest = restOf('others', others.length + more.count, [...others, more]);
  return drawAmounts(title, [...shown.map(barOf), ...rest]);
}

/**
 * Draws the latest days or months in their order, after the sum of the earlier ones.
 *
 * @param bars exact decimals; their names are `2026-11-03` or `2026-11`
 */
export function createDateChart(title: string, bars: readonly NamedAmount[]): Chart {
  const sorted = bars.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const first = sorted.length <= maxBars + 1 ? 0 : sorted.length - maxBars;
  const [earlier, shown] = [sorted.slice(0, first), sorted.slice(first)];
  return drawAmounts(title, [...restOf('earlier', earlier.length, earlier), ...shown.map(barOf)]);
}

function barOf({ name, value }: NamedAmount): Bar {
  return { name: printable(name), label: groupThousands(value), length: new Big(value).toNumber() };
}

/** A line without a bar, which would be longer than all others and hide their differences. */
function restOf(name: string, count: number, bars: readonly { readonly value: string }[]): Bar[] {
  if (count === 0) return [];
  const sum = bars.reduce((total, { value }) => addAmounts(total, value), '0');
  return [
    {
      name: name === 'others' && count === 1 ? '1 other' : `${groupThousands(count)} ${name}`,
      label: groupThousands(sum),
      length: null,
    },
  ];
}

function drawAmounts(title: string, bars: readonly Bar[]): Chart {
  const description = bars.map(({ name, label }) => `${name} ${label}`).join(', ');
  return { title, description, table: tableOf(['Name', 'Amount'], bars), ...drawBars(bars) };
}

function tableOf(titles: ChartTable['titles'], bars: readonly Bar[]): ChartTable {
  return { titles, lines: bars.map(({ name, label }) => [name, label]) };
}

/**
 * @param points `at` is the local start of a bar: `2026-11-03`, `2026-11-03T04`, `2026-11-03T04:05` or `2026-11-03T04:05:06`. An hour that
 *   repeats when clocks go back is one bar.
 */
export function createTimeChart(
  title: string,
  unit: TimeUnit,
  points: readonly { readonly at: string; readonly count: number }[],
): Chart {
  const counts = new Map<string, number>();
  for (const { at, count } of points) counts.set(at, (counts.get(at) ?? 0) + count);
  const times = [...counts]
    .map(([at, count]) => ({ at, count }))
    .sort((one, other) => (one.at < other.at ? -1 : 1));
  const most = times.reduce<(typeof times)[number] | undefined>(
    (highest, time) => (highest && highest.count >= time.count ? highest : time),
    undefined,
  );
  const sum = times.reduce((total, { count }) => total + count, 0);
  const from = times[0]?.at;
  const to = times.at(-1)?.at;
  const description = most
    ? `${groupThousands(sum)} from ${from} to ${to}, by ${unit}; most in ${most.at}: ${groupThousands(most.count)}.`
    : 'Nothing to show.';
  const table: ChartTable = {
    titles: [`${unit[0]?.toUpperCase()}${unit.slice(1)}`, 'Number'],
    lines: times.map(({ at, count }) => [formatUnitStart(unit, at), groupThousands(count)]),
  };
  return { title, description, table, ...drawTime(unit, times) };
}
