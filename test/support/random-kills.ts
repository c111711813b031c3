import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import type { Kill } from './kill-dispatches.ts';

/** So often at most does a process that is to be killed at a point come to it first. */
const maxOccurrence = 60;

/** Kills at random points and at random moments, half of each; the same seed gives the same. */
export function randomKills(count: number, points: readonly string[], seed: number | string): Kill[] {
  return Array.from({ length: count }, (_, index) => {
    const random = (what: string, below: number) => Math.floor(seededRandom(what, seed, index) * below);
    const point = points[random('point', points.length * 2)];
    if (point !== undefined) {
      return { kind: 'point', point, occurrence: 1 + random('occurrence', maxOccurrence) };
    }
    const after = random('after', 4) === 0 ? 'start' : 'first request';
    return { kind: 'moment', after, milliseconds: random('moment', after === 'start' ? 1000 : 150) };
  });
}
