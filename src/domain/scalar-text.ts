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
