import { Big } from 'big.js';
import stringWidth from 'string-width';
import { addAmounts } from '../../platform/money.ts';
import { printable } from '../printable.ts';
import { formatUnitStart, type TimeUnit } from '../time.ts';
import type { Chart, ChartTable } from './chart.ts';
import { groupThousands, share } from './figures.ts';
import { bar, chartWidth, colours, type Drawing, drawEmpty, text } from './svg.ts';
import { drawTime } from './time-bars.ts';

/** @param steps such as contacts, recipients, accepted; shares refer to the first */
export function createFunnelChart(
  title: string,
  steps: readonly { readonly name: string; readonly count: number }[],
): Chart {
  const whole = steps[0]?.count ?? 0;
  const bars = steps.map(({ name, count }) => ({
    name: printable(name),
    label: `${groupThousands(count)}${whole === 0 ? '' : ` (${share(count, whole)})`}`,
    length: count,
  }));
  return chartOf(title, ['Step', 'Number'], bars);
}

const maxBars = 15;

export type BarOrder = 'largest first' | 'as given';

type NamedAmount = { readonly name: string; readonly value: string };

/**
 * Draws the largest figures, or the first ones, and the sum of all others.
 *
 * @param bars exact decimals; names may repeat
 * @param more the sum of further bars
 */
export function createBarChart(
  title: string,
  bars: readonly NamedAmount[],
  more: { readonly count: number; readonly value: string } = { count: 0, value: '0' },
  order: BarOrder = 'largest first',
): Chart {
  const byValue = (one: NamedAmount, other: NamedAmount): number =>
    new Big(other.value).cmp(one.value) || (one.name < other.name ? -1 : 1);
  const sorted = order === 'as given' ? bars : bars.toSorted(byValue);
  const count = more.count === 0 && sorted.length <= maxBars + 1 ? sorted.length : maxBars;
  const [shown, others] = [sorted.slice(0, count), sorted.slice(count)];
  const rest = restOf('others', others.length + more.count, [...others, more]);
  return chartOf(title, ['Name', 'Amount'], [...shown.map(barOf), ...rest]);
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
  const rest = restOf('earlier', earlier.length, earlier);
  return chartOf(title, ['Name', 'Amount'], [...rest, ...shown.map(barOf)]);
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

function chartOf(title: string, titles: ChartTable['titles'], bars: readonly Bar[]): Chart {
  const description = bars.map(({ name, label }) => `${name} ${label}`).join(', ');
  const table = { titles, lines: bars.map(({ name, label }) => [name, label] as const) };
  return { title, description, table, ...drawBars(bars) };
}

/**
 * @param points `at` is the local start of a bar: `2026-11-03`, `2026-11-03T04`, `2026-11-03T04:05` or `2026-11-03T04:05:06`. An hour that
 *   repeats when clocks go back is one bar.
 * @param wideWidth units of the drawing for a wide page, where there is one
 */
export function createTimeChart(
  title: string,
  unit: TimeUnit,
  points: readonly { readonly at: string; readonly count: number }[],
  wideWidth?: number,
): Chart {
  const counts = new Map<string, number>();
  for (const { at, count } of points) counts.set(at, (counts.get(at) ?? 0) + count);
  const times = [...counts]
    .map(([at, count]) => ({ at, count }))
    .sort((one, other) => (one.at < other.at ? -1 : 1));
  const most = times.toSorted((one, other) => other.count - one.count)[0];
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
  const wide =
    wideWidth === undefined ? undefined : { width: wideWidth, ...drawTime(unit, times, wideWidth) };
  return { title, description, table, wide, ...drawTime(unit, times) };
}

type Bar = {
  readonly name: string;
  readonly label: string;
  /** Relative to the other bars; null draws none. */
  readonly length: number | null;
};

const rowHeight = 34;
const textBaseline = 13;
const barTop = 18;
const barHeight = 10;
/** Widths at size 12 in a wide font: W, and a digit. */
const widest = 12.4;
const digit = 7.7;

/** Names stand above bars. Negative bars go to the left of zero. */
function drawBars(bars: readonly Bar[]): Drawing {
  if (bars.length === 0) return drawEmpty();
  const lengths = bars.map(({ length }) => length ?? 0);
  const least = Math.min(0, ...lengths);
  const span = Math.max(0, ...lengths) - least;
  const toX = (length: number): number => (span === 0 ? 0 : ((length - least) / span) * chartWidth);
  const rows = bars.map(({ name, label, length }, row) => {
    const top = row * rowHeight;
    const fill = length === null ? colours.quiet : colours.ink;
    const words =
      text(0, top + textBaseline, shorten(name, availableColumns(label)), { fill }) +
      text(chartWidth, top + textBaseline, label, { fill, anchor: 'end' });
    if (length === null) return words;
    const [from, to] = [toX(Math.min(0, length)), toX(Math.max(0, length))];
    return (
      bar({ x: 0, y: top + barTop, width: chartWidth, height: barHeight }, colours.track) +
      bar({ x: from, y: top + barTop, width: to - from, height: barHeight }, colours.bar) +
      words
    );
  });
  return { height: bars.length * rowHeight, marks: rows.join('\n') };
}

/** Room for a name beside its label, if all its letters were capitals. */
function availableColumns(label: string): number {
  return Math.max(8, Math.floor((chartWidth - (label.length + 2) * digit) / widest));
}

/** Cuts at whole characters. */
function shorten(name: string, maxWidth: number): string {
  if (stringWidth(name) <= maxWidth) return name;
  let text = '';
  let width = 1;
  for (const { segment } of new Intl.Segmenter('en').segment(name)) {
    width += stringWidth(segment);
    if (width > maxWidth) break;
    text += segment;
  }
  return `${text}…`;
}
