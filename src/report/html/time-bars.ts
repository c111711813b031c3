import type { TimeUnit } from '../time.ts';
import { groupThousands } from './figures.ts';
import { bar, chartWidth, colours, type Drawing, drawEmpty, line, text } from './svg.ts';

const milliseconds = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1_000 } as const;
/** Completes a bar's start to an ISO time. */
const missingSuffix = { day: 'T00:00Z', hour: ':00Z', minute: 'Z', second: 'Z' } as const;

const top = 8;
const bottom = top + 200;
const labelSize = 11;
/** Widths in SVG units. Half of a label may extend beyond the bars. */
const digit = 7;
const margin = 32;
const widestBar = 48;

/**
 * Treats local times as UTC, which has no repeated or missing hours.
 *
 * @param times `2026-11-03`, `2026-11-03T04`, `2026-11-03T04:05` or `2026-11-03T04:05:06`, each once, in order
 */
export function drawTime(
  unit: TimeUnit,
  times: readonly { readonly at: string; readonly count: number }[],
  width: number = chartWidth,
): Drawing {
  const bars = times.map(({ at, count }) => ({ time: Date.parse(at + missingSuffix[unit]), count }));
  const [first, last] = [bars[0]?.time, bars.at(-1)?.time];
  if (first === undefined || last === undefined) return drawEmpty();

  const counts = chooseCounts(bars.reduce((most, { count }) => Math.max(most, count), 0));
  const highest = counts.at(-1) ?? 1;
  const left = Math.max(margin, 12 + digit * groupThousands(highest).length);
  const right = width - margin;
  const barSpacing = (right - left) / ((last - first) / milliseconds[unit] + 1);
  const middle = (time: number): number => left + ((time - first) / milliseconds[unit] + 0.5) * barSpacing;
  const y = (count: number): number => bottom - (count / highest) * (bottom - top);
  // Leaves a gap when there is room. A bar is never too thin to see.
  const barWidth = Math.min(Math.max(1, barSpacing > 4 ? barSpacing - 1 : barSpacing), widestBar);

  const quiet = { fill: colours.quiet, size: labelSize } as const;
  const scale = counts.map(
    (count) =>
      line(left, right, y(count), count === 0 ? colours.quiet : colours.line) +
      text(left - 6, y(count) + 4, groupThousands(count), { ...quiet, anchor: 'end' }),
  );
  const drawn = bars
    .filter(({ count }) => count > 0)
    .map(({ time, count }) =>
      bar(
        { x: middle(time) - barWidth / 2, y: y(count), width: barWidth, height: bottom - y(count) },
        colours.bar,
      ),
    );
  const labels = chooseTimes(first, last, milliseconds[unit], barSpacing).map(({ time, label }) =>
    text(middle(time), bottom + 16, label, { ...quiet, anchor: 'middle' }),
  );
  return { height: bottom + 24, marks: [...scale, ...drawn, ...labels].join('\n') };
}

/** Round figures from zero, 1, 2 or 5 times a power of ten apart, up to at least the highest. */
export function chooseCounts(highest: number): number[] {
  const maxSteps = 6;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, highest / maxSteps)));
  const step =
    [1, 2, 5].map((times) => times * power).find((each) => highest <= each * maxSteps) ?? 10 * power;
  return Array.from({ length: Math.max(1, Math.ceil(highest / step)) + 1 }, (_, index) => index * step);
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const month = 30.4 * day;
/** A Monday, where steps of weeks begin. */
const monday = Date.UTC(1970, 0, 5);

type Step = ReturnType<typeof every>;

const steps: readonly Step[] = [
  ...[1, 2, 5, 10, 15, 30].map((count) => every(count * second, secondLabel, 64)),
  ...[1, 2, 5, 10, 15, 30].map((count) => every(count * minute, clockLabel)),
  ...[1, 2, 3, 6, 12].map((count) => every(count * hour, clockLabel)),
  ...[1, 2, 7, 14].map((count) => every(count * day, dayLabel)),
  ...[1, 3, 6].map((count) =>
    everyMonths(count, (time) => `${toDateParts(time).month} ${toDateParts(time).year}`),
  ),
  ...[1, 2, 5, 10, 20, 50, 100].map((years) => everyMonths(12 * years, (time) => toDateParts(time).year)),
];

/**
 * Round times with labels, as many as fit. Local times are treated as UTC.
 *
 * @param barInterval in milliseconds
 * @param barSpacing in SVG units
 */
export function chooseTimes(
  first: number,
  last: number,
  barInterval: number,
  barSpacing: number,
): { readonly time: number; readonly label: string }[] {
  const step = steps.find(
    ({ milliseconds, labelWidth }) =>
      milliseconds >= barInterval && (milliseconds / barInterval) * barSpacing >= labelWidth,
  );
  if (!step) return [];
  const { time, indexAt, label } = step;
  const from = indexAt(first);
  return Array.from({ length: indexAt(last) - from + 1 }, (_, index) => time(from + index))
    .filter((each) => each >= first)
    .map((each) => ({ time: each, label: label(each) }));
}

/** Points in time at equal intervals, with indexes. @param labelWidth in SVG units, with a gap */
function every(milliseconds: number, label: (time: number) => string, labelWidth = 48) {
  return {
    milliseconds,
    time: (number: number): number => monday + number * milliseconds,
    /** The index of the last point not after the time. */
    indexAt: (time: number): number => Math.floor((time - monday) / milliseconds),
    label,
    labelWidth,
  };
}

function everyMonths(count: number, label: Step['label']): Step {
  return {
    milliseconds: count * month,
    time: (number) => Date.UTC(1970, number * count),
    indexAt: (time) => {
      const date = new Date(time);
      return Math.floor(((date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()) / count);
    },
    label,
    labelWidth: 64,
  };
}

function secondLabel(time: number): string {
  return time % day === 0 ? dayLabel(time) : toDateParts(time).clock;
}

function clockLabel(time: number): string {
  return time % day === 0 ? dayLabel(time) : toDateParts(time).clock.slice(0, 5);
}

function dayLabel(time: number): string {
  const { day, month } = toDateParts(time);
  return `${Number(day)} ${month}`;
}

/** The only date format that is equal on all machines: `Tue, 03 Nov 2026 23:50:00 GMT`. */
function toDateParts(time: number): Record<'day' | 'month' | 'year' | 'clock', string> {
  const [, day = '', month = '', year = '', clock = ''] = new Date(time).toUTCString().split(' ');
  return { day, month, year, clock };
}
