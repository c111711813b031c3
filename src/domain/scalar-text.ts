/** In milliseconds. */
export const durationUnits = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Uses the largest unit that gives a whole number. */
export function formatDuration(milliseconds: number): string {
  const [unit = 'ms', factor = 1] =
    Object.entries(durationUnits)
      .toReversed()
      .find(([, size]) => milliseconds % size === 0) ?? [];
  return `${milliseconds / factor}${unit}`;
}

/** 0.125 becomes `12.5%`; rounds floating-point residue away. */
export function formatPercent(share: number): string {
  return `${Number((share * 100).toFixed(3))}%`;
}

/** `2026-11-21`, or a time in UTC: `2026-11-21T08:00:00Z`. Postgres has no year 0, and no date goes beyond 2199. */
export function isDayOrTime(text: string): boolean {
  const [, day = ''] =
    /^((?:19|20|21)\d\d-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?Z)?$/.exec(text) ?? [];
  const time = new Date(text);
  return day !== '' && !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day);
}
