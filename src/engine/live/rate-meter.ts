import type { DispatchProgress } from '../../ledger/slices/progress.ts';

/** Requests and recipients per second, of the last seconds. */
export type Rate = { readonly requests: number; readonly recipients: number };

export type RateMeter = {
  /** Undefined until a second was measured. */
  readonly measure: (progress: DispatchProgress, total: Rate) => Rate | undefined;
};

/** Milliseconds. */
const span = { least: 900, most: 10_000 } as const;

/** Measures how fast a run is settled, from one look to the next. */
export function createRateMeter(monotonic: () => number): RateMeter {
  let samples: { readonly at: number; readonly settled: number }[] = [];
  return {
    measure: ({ state, settled }, total) => {
      const at = monotonic();
      if (state !== 'running') {
        samples = [];
        return undefined;
      }
      samples = [...samples.filter((sample) => at - sample.at <= span.most), { at, settled }];
      const [first] = samples;
      if (!first || at - first.at < span.least) return undefined;
      const rate = Math.max(0, settled - first.settled) / ((at - first.at) / 1000);
      return { requests: rate, recipients: (rate * total.recipients) / Math.max(1, total.requests) };
    },
  };
}

/** @returns null if the run waits, or is not running */
export function secondsLeftOf(
  { state, settled, total }: DispatchProgress,
  rate: Rate | undefined,
): number | null {
  if (state !== 'running' || !rate || rate.requests === 0 || settled >= total) return null;
  return Math.ceil((total - settled) / rate.requests);
}
