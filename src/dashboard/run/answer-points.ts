import type { AttemptVerdict } from '../../domain/runs.ts';
import type { EndedAttempts } from '../../ledger/counts/answers.ts';
import type { TimeUnit } from '../../report/time.ts';
import { formatLocal } from '../../report/time.ts';

type AnswerPoints = {
  readonly unit: TimeUnit;
  /** Accepted first, then the others, the most frequent first. All cover the same time. */
  readonly series: readonly { readonly verdict: AttemptVerdict; readonly points: readonly Point[] }[];
};

/** By local start of the interval, as charts of time want it. */
type Point = { readonly at: string; readonly count: number };

/** Seconds of the intervals in which a zone's local times are the same distance apart. */
const steps = { second: 1, minute: 60, hour: 900, day: 900 } as const satisfies Record<TimeUnit, number>;

/** `2026-11-03 04:05:06` up to the unit. */
const lengths = { second: 19, minute: 16, hour: 13, day: 10 } as const satisfies Record<TimeUnit, number>;

/** At most 120 seconds, 60 minutes or 72 hours, as in the report of the run. */
export function pointsOf(ended: readonly EndedAttempts[], zone: string): AnswerPoints {
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

export type AttemptResult = Pick<EndedAttempts, 'verdict' | 'httpStatus' | 'attempts'>;

/** All attempts by their result, the most frequent first. */
export function resultsOf(ended: readonly EndedAttempts[]): AttemptResult[] {
  const results = new Map<string, AttemptResult>();
  for (const { verdict, httpStatus, attempts } of ended) {
    const key = `${verdict} ${httpStatus}`;
    const before = results.get(key)?.attempts ?? 0;
    results.set(key, { verdict, httpStatus, attempts: before + attempts });
  }
  return [...results.values()].toSorted((one, other) => other.attempts - one.attempts);
}
