/** Milliseconds of each unit of a duration. */
export const durationUnits = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A duration as people write it, in the largest unit that it is a whole number of. */
export function formatDuration(milliseconds: number): string {
  const [unit = 'ms', factor = 1] =
    Object.entries(durationUnits)
      .toReversed()
      .find(([, size]) => milliseconds % size === 0) ?? [];
  return `${milliseconds / factor}${unit}`;
}

/** A share of 0.125 is `12.5%`, without a rest of its arithmetic. */
export function formatPercent(share: number): string {
  return `${Number((share * 100).toFixed(3))}%`;
}
