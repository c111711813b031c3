import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Several times what is in use at once (bytes). */
const maxYoungBytes = 16 * 1024 * 1024;

/**
 * Keeps V8's heap small. Call it before most modules are loaded.
 *
 * A stream of a million rows creates mostly short-lived objects. By default V8 uses over 100 MiB for them,
 * without being faster. A young generation that cannot grow is worse: V8 shrinks it to 2 MiB when idle, and
 * then promotes objects that live for one exchange. This costs 80 MiB and half as much processor time again.
 * The old generation is collected after growing by half, instead of threefold.
 *
 * Whether the young generation may grow is decided after each collection. A timer is too late: at 10,000 requests a second
 * it doubles several times in 200 ms, up to 128 MiB, and such a run peaked at 324 MiB. Before the first collection is seen,
 * modules are loaded, which needs no growth.
 *
 * A batch of rows lives for two collections at most. V8 may take such objects for long-lived ones, and create them in the old
 * generation: planning then costs a third more processor time.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=50');
  setFlagsFromString('--no-allocation-site-pretenuring');
  setYoungGrowth(false);
  new PerformanceObserver(() => setYoungGrowth(youngBytes() < maxYoungBytes)).observe({ entryTypes: ['gc'] });
}

function setYoungGrowth(grows: boolean): void {
  setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
}

function youngBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return young?.space_size ?? maxYoungBytes;
}
