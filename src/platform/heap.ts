import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Room for what is under way at a time, several times over (bytes). */
const maxYoungBytes = 16 * 1024 * 1024;

const interval = 200;

/**
 * Keeps V8 from taking memory only because there is some. To be called before most modules are loaded.
 *
 * A stream of a million rows makes objects that die young and little else; by itself V8 takes 100 MiB and more for them,
 * without being any faster. But it must not stay too small either: in a quiet moment V8 takes room away, down to 2 MiB,
 * and if that could not grow again, what lives for the length of an exchange would be taken for old, which costs 80 MiB
 * and half as much processor time again. And what has grown old is looked through when there is half as much again, not
 * three times as much.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=50');
  setYoungGrowth(false);
  setInterval(() => setYoungGrowth(youngBytes() < maxYoungBytes), interval).unref();
}

function setYoungGrowth(grows: boolean): void {
  setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
}

function youngBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return young?.space_size ?? maxYoungBytes;
}
