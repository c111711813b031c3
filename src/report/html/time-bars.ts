import { chartWidth, colours, draw, drawNothing } from './draw.ts';
import { grouped } from './figures.ts';

const height = 200;
const milliseconds = { day: 86_400_000, hour: 3_600_000, minute: 60_000 } as const;
/** What is missing of the time at which a bar begins. */
const rest = { day: 'T00:00Z', hour: ':00Z', minute: 'Z' } as const;
export type TimeUnit = keyof typeof milliseconds;
/** Room for the times at the bottom, and half of the last one at the right. */
const padding = { right: 32, top: 8, bottom: 24 };
/** What a letter of a figure takes. */
const digit = 7;

/**
 * Bars over time. Local times are drawn as if they were UTC, which has no hours that come twice or not at all.
 *
 * @param times `2026-11-03`, `2026-11-03T04` or `2026-11-03T04:05`, each once
 */
export function drawTime(
  unit: TimeUnit,
  times: readonly { readonly at: string; readonly count: number }[],
): Promise<string> {
  if (times.length === 0) return drawNothing();
  const values = times.map(({ at, count }) => {
    const from = Date.parse(at + rest[unit]);
    return { from, to: from + milliseconds[unit], count };
  });
  const begins = values.map(({ from }) => from);
  const first = Math.min(...begins);
  const end = Math.max(...begins) + milliseconds[unit];
  const most = Math.max(...values.map(({ count }) => count), 1);
  // The axis may go on to the next round figure, which can be a digit longer.
  const left = 12 + digit * grouped(most * 2).length;
  const wide = ((chartWidth - left - padding.right) / (end - first)) * milliseconds[unit];
  return draw(
    height,
    { ...padding, left },
    {
      data: [{ name: 'times', values }],
      scales: [
        {
          name: 'time',
          type: 'utc',
          domain: [first, end],
          range: 'width',
        },
        {
          name: 'count',
          type: 'linear',
          domain: [0, most],
          nice: true,
          range: 'height',
        },
      ],
      axes: [
        {
          scale: 'count',
          orient: 'left',
          aria: false,
          grid: true,
          ticks: false,
          domain: false,
          labelPadding: 6,
          tickCount: most < 5 ? most : 5,
          format: ',d',
        },
        {
          scale: 'time',
          orient: 'bottom',
          aria: false,
          tickCount: 6,
          labelOverlap: 'greedy',
          labelSeparation: 8,
          labelPadding: 6,
          domainColor: colours.quiet,
          tickColor: colours.quiet,
          formatType: 'utc',
          format: {
            seconds: '%H:%M:%S',
            minutes: '%H:%M',
            hours: '%H:%M',
            date: '%-d %b',
            week: '%-d %b',
            month: '%b %Y',
            year: '%Y',
          },
        },
      ],
      marks: [
        {
          type: 'rect',
          aria: false,
          from: { data: 'times' },
          encode: {
            enter: {
              x: { scale: 'time', field: 'from', offset: wide > 4 ? 1 : 0 },
              x2: { scale: 'time', field: 'to' },
              y: { scale: 'count', field: 'count' },
              y2: { scale: 'count', value: 0 },
              fill: { value: colours.bar },
            },
          },
        },
      ],
    },
  );
}
