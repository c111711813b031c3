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

/** From here on, a binomial number is as good as normal. */
const manyEvents = 100;

/** Draws in how many of the trials an event happens (binomial), in a time that does not grow with the trials. */
export function drawEvents(random: Random, trials: number, share: number): number {
  if (share > 0.5) return trials - drawEvents(random, trials, 1 - share);
  if (share <= 0 || trials <= 0) return 0;
  const mean = trials * share;
  if (mean < manyEvents) return countWaits(random, trials, share);
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.min(trials, Math.max(0, Math.round(mean + normal * Math.sqrt(mean * (1 - share)))));
}

/** Jumps from event to event: the trials between two are geometric. */
function countWaits(random: Random, trials: number, share: number): number {
  const perTrial = Math.log(1 - share);
  let events = 0;
  for (let trial = 0; ; events++) {
    trial += Math.floor(Math.log(1 - random()) / perTrial) + 1;
    if (trial > trials) return events;
  }
}
