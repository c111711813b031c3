import type { AttemptVerdict } from '../../domain/runs.ts';
import type { LiveRun } from '../../engine/live/live-runs.ts';
import { type EndedAttempts, groupResults } from '../../ledger/counts/answers.ts';
import { chartFigure } from '../../report/html/chart.ts';
import { createTimeChart } from '../../report/html/charts.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { attemptEndColumns } from '../../report/lists/run-results.ts';
import { formatLocal, type TimeUnit } from '../../report/time.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { figures, folded } from '../parts/parts.ts';

/** Units of the chart over the whole width. */
const wideWidth = 1_000;

/** Shows over the whole width when the service accepted requests. */
export function chartPart({ answers: { ended } }: LiveRun, { zone }: Viewer): Html | undefined {
  const { unit, series } = pointsOf(ended, zone);
  const [first] = series;
  if (!first) return undefined;
  const title = `${capitalised(first.verdict)} by ${unit} (${zone})`;
  return chartFigure(createTimeChart(title, unit, first.points, wideWidth), 'answers-0');
}

/** Shows how else the service answered, and how fast. */
export function answersPart({ answers }: LiveRun, viewer: Viewer): Html | undefined {
  const { ended, latency } = answers;
  if (ended.length === 0) return undefined;
  const { unit, series } = pointsOf(ended, viewer.zone);
  const milliseconds = (value: number | null): string =>
    value === null ? '–' : `${groupThousands(value)} ms`;
  const charts = series
    .slice(1)
    .map(({ verdict, points }) =>
      createTimeChart(`${capitalised(verdict)} by ${unit} (${viewer.zone})`, unit, points),
    );
  const rows = groupResults(ended);
  const body = html`${figures([
    { name: 'Answered', value: groupThousands(latency.answered) },
    { name: 'Half within', value: milliseconds(latency.median) },
    { name: '95 % within', value: milliseconds(latency.p95) },
    { name: '99 % within', value: milliseconds(latency.p99) },
  ])}
${charts.length > 0 && html`<div class="charts">${charts.map((drawn, index) => chartFigure(drawn, `answers-${index + 1}`))}</div>`}
${listTable({ caption: 'How attempts ended', columns: attemptEndColumns, rows }, viewer)}`;
  return folded('answers', 'Answers of the service', body);
}

function capitalised(verdict: AttemptVerdict): string {
  const words = verdict.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A count at the local start of its interval, as charts of time want it. */
type Point = { readonly at: string; readonly count: number };

/** Seconds of the intervals in which a zone's local times are the same distance apart. */
const steps = { second: 1, minute: 60, hour: 900, day: 900 } as const satisfies Record<TimeUnit, number>;

/** `2026-11-03 04:05:06` up to the unit. */
const lengths = { second: 19, minute: 16, hour: 13, day: 10 } as const satisfies Record<TimeUnit, number>;

/**
 * Counts answers in at most 120 seconds, 60 minutes or 72 hours, as the report of the run does: accepted first, then the
 * others, the most frequent first. All cover the same time.
 */
export function pointsOf(ended: readonly EndedAttempts[], zone: string) {
  const [first, last] = [ended[0]?.second ?? 0, ended.at(-1)?.second ?? 0];
  const unit = unitOf(last - first);
  const byVerdict = Map.groupBy(ended, ({ verdict }) => verdict);
  const series = [...byVerdict].map(([verdict, of]) => {
    const nothing = { verdict, httpStatus: null, attempts: 0 } as const;
    const whole = [{ ...nothing, second: first }, ...of, { ...nothing, second: last }];
    return { verdict, points: joinPoints(whole, unit, zone), attempts: sumOf(of) };
  });
  const isFirst = ({ verdict }: { readonly verdict: AttemptVerdict }): number =>
    Number(verdict === 'accepted');
  return {
    unit,
    series: series.toSorted((one, other) => isFirst(other) - isFirst(one) || other.attempts - one.attempts),
  };
}

function sumOf(ended: readonly EndedAttempts[]): number {
  return ended.reduce((sum, { attempts }) => sum + attempts, 0);
}

function unitOf(seconds: number): TimeUnit {
  if (seconds < 120) return 'second';
  if (seconds <= 3_600) return 'minute';
  return seconds <= 3 * 86_400 ? 'hour' : 'day';
}

/** Local times are formatted once for each interval: it takes longer than all else. */
function joinPoints(ended: readonly EndedAttempts[], unit: TimeUnit, zone: string): Point[] {
  const counts = new Map<number, number>();
  for (const { second, attempts } of ended) {
    const start = second - (second % steps[unit]);
    counts.set(start, (counts.get(start) ?? 0) + attempts);
  }
  return [...counts].map(([start, count]) => {
    const at = formatLocal(new Date(start * 1000), zone)
      .slice(0, lengths[unit])
      .replace(' ', 'T');
    return { at, count };
  });
}
