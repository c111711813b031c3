import { LRUCache } from 'lru-cache';
import type { DispatchProgress } from '../../ledger/slices/progress.ts';

/** Milliseconds over which a speed is measured. */
const span = { least: 900, most: 10_000 } as const;

const maxMeasured = 5_000;

type Sample = { readonly at: number; readonly total: number };

/** Measures how fast numbers grow, from one look to the next. */
export function createSpeedMeter(monotonic: () => number) {
  const samples = new LRUCache<string, readonly Sample[]>({ max: maxMeasured });
  return {
    /** @returns how much a second; undefined until a second was measured */
    measure(key: string, total: number): number | undefined {
      const at = monotonic();
      const recent = [...(samples.get(key) ?? []).filter((each) => at - each.at <= span.most), { at, total }];
      samples.set(key, recent);
      const [first] = recent;
      if (!first || at - first.at < span.least) return undefined;
      return Math.max(0, total - first.total) / ((at - first.at) / 1_000);
    },
    forget(key: string): void {
      samples.delete(key);
    },
  };
}

/** How fast a run is sent, and when it will be. */
export type Speed = {
  /** Requests and recipients per second; undefined until a second was measured. */
  readonly perSecond: { readonly requests: number; readonly recipients: number } | undefined;
  /** Null if the run waits, or is not running. */
  readonly secondsLeft: number | null;
};

export function createSpeedReader(
  monotonic: () => number,
): (run: string, progress: DispatchProgress) => Speed {
  const { measure, forget } = createSpeedMeter(monotonic);
  return (run, { state, settled, total, counts }) => {
    if (state !== 'running') forget(run);
    const requests = state === 'running' ? measure(run, settled) : undefined;
    if (requests === undefined) return { perSecond: undefined, secondsLeft: null };
    const recipients = (requests * counts.recipients.total) / Math.max(1, counts.requests.total);
    const isWaiting = requests === 0 || settled >= total;
    return {
      perSecond: { requests, recipients },
      secondsLeft: isWaiting ? null : Math.ceil((total - settled) / requests),
    };
  };
}
