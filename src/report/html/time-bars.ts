import { groupThousands } from './figures.ts';
import { bar, chartWidth, colours, type Drawing, drawEmpty, line, text } from './svg.ts';
import { chooseCounts, chooseTimes } from './ticks.ts';

const milliseconds = { day: 86_400_000, hour: 3_600_000, minute: 60_000 } as const;
/** What is missing of the time at which a bar begins. */
const missingSuffix = { day: 'T00:00Z', hour: ':00Z', minute: 'Z' } as const;
export type TimeUnit = keyof typeof milliseconds;

const top = 8;
const bottom = top + 200;
const labelSize = 11;
/** What a digit of a figure takes, and half of a time, which may go beyond the bars at each side. */
const digit = 7;
const margin = 32;
const widestBar = 48;

/**
 * Bars over time, each with its time under its middle. Local times are drawn as if they were UTC, which has no hours that
 * come twice or not at all.
 *
 * @param times `2026-11-03`, `2026-11-03T04` or `2026-11-03T04:05`, each once, in their order
 */
export function drawTime(
  unit: TimeUnit,
  times: readonly { readonly at: string; readonly count: number }[],
): Drawing {
  const bars = times.map(({ at, count }) => ({ time: Date.parse(at + missingSuffix[unit]), count }));
  const [first, last] = [bars[0]?.time, bars.at(-1)?.time];
  if (first === undefined || last === undefined) return drawEmpty();

  const counts = chooseCounts(bars.reduce((most, { count }) => Math.max(most, count), 0));
  const highest = counts.at(-1) ?? 1;
  const left = Math.max(margin, 12 + digit * groupThousands(highest).length);
  const right = chartWidth - margin;
  const barSpacing = (right - left) / ((last - first) / milliseconds[unit] + 1);
  const middle = (time: number): number => left + ((time - first) / milliseconds[unit] + 0.5) * barSpacing;
  const y = (count: number): number => bottom - (count / highest) * (bottom - top);
  // One apart where there is room; where there are more bars than that, none is too thin to be seen.
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
      bar(middle(time) - barWidth / 2, y(count), barWidth, bottom - y(count), colours.bar),
    );
  const labels = chooseTimes(first, last, milliseconds[unit], barSpacing).map(({ time, label }) =>
    text(middle(time), bottom + 16, label, { ...quiet, anchor: 'middle' }),
  );
  return { height: bottom + 24, marks: [...scale, ...drawn, ...labels].join('\n') };
}
