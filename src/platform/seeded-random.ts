/** Returns numbers of at least 0 and below 1. */
export type Random = () => number;

/** Mulberry32 (Tommy Ettinger, 2017): pseudo-random numbers that are the same for the same seed. Not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 15), state | 1);
    const result = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61));
    return ((result ^ (result >>> 14)) >>> 0) / 2 ** 32;
  };
}
