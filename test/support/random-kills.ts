import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import type { Kill } from './kill-dispatches.ts';

const maxOccurrence = 60;

/** Half of the kills are at random points, half at random moments. The same seed gives the same kills. */
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
