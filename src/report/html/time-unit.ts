export type TimeUnit = 'second' | 'minute' | 'hour' | 'day';

/** `2026-11-03T04` is `2026-11-03 04:00`. */
export function nameTime(unit: TimeUnit, at: string): string {
  return `${at.replace('T', ' ')}${unit === 'hour' ? ':00' : ''}`;
}
