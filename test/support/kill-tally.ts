import type { Figures } from './expect-dispatched.ts';
import type { KilledRun } from './kill-dispatches.ts';

/** Adds the figures of several runs up, and prints them. */
export function openKillTally() {
  const begun = performance.now();
  const byPoint = new Map<string, number>();
  const untilSent: number[] = [];
  const sums = new Map<string, number>();
  let kills = 0;
  return {
    kills: () => kills,
    add(killed: KilledRun, figures: Figures): void {
      kills += killed.kills.length;
      untilSent.push(...killed.untilSent);
      for (const { what } of killed.kills) byPoint.set(what, (byPoint.get(what) ?? 0) + 1);
      for (const [name, figure] of Object.entries(figures)) sums.set(name, (sums.get(name) ?? 0) + figure);
    },
    /** @param seed what repeats it */
    print(seed: string): void {
      const sorted = untilSent.toSorted((one, other) => one - other);
      const lines: [string, number | string][] = [
        ['seed', seed],
        ['kills', kills],
        ...[...byPoint].map(([point, count]): [string, number] => [`  at ${point}`, count]),
        ...sums,
        ['ms until a resume sent, median', Math.round(sorted[sorted.length >> 1] ?? 0)],
        ['ms until a resume sent, longest', Math.round(sorted.at(-1) ?? 0)],
        ['seconds', Math.round((performance.now() - begun) / 1000)],
      ];
      console.log(lines.map(([what, value]) => `${what.padEnd(34)} ${value}`).join('\n'));
    },
  };
}
