import type { TimeUnit } from '../time.ts';
import { groupThousands } from './figures.ts';
import { bar, chartWidth, colours, type Drawing, drawEmpty, line, text } from './svg.ts';
import { chooseCounts, chooseTimes } from './ticks.ts';

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
