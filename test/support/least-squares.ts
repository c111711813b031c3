export type Sample = { readonly x: number; readonly y: number };

/** The slope of the regression line. */
export function slopeOf(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [x, y] = [mean((sample) => sample.x), mean((sample) => sample.y)];
  const spread = mean((sample) => (sample.x - x) ** 2);
  return mean((sample) => (sample.x - x) * (sample.y - y)) / spread;
}
