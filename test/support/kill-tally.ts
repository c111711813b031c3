import type { Figures } from './expect-dispatched.ts';
import type { KilledRun, TimeToFirstRequest } from './kill-dispatches.ts';

export function createKillTally() {
  const startedAt = performance.now();
  const byPoint = new Map<string, number>();
  const timesToFirstRequest: TimeToFirstRequest[] = [];
  const sums = new Map<string, number>();
  let kills = 0;
  return {
    kills: () => kills,
    add(killed: KilledRun, figures: Figures): void {
      kills += killed.kills.length;
      timesToFirstRequest.push(...killed.timesToFirstRequest);
      for (const { what } of killed.kills) byPoint.set(what, (byPoint.get(what) ?? 0) + 1);
      for (const [name, figure] of Object.entries(figures)) sums.set(name, (sums.get(name) ?? 0) + figure);
      // Not `console.log`: vitest holds it back until the test ends.
      process.stdout.write(
        `  ${kills} kills, ${sums.get('inDoubt')} in doubt, ${secondsSince(startedAt)} s\n`,
      );
    },
    /** @param seed repeats these kills */
    print(seed: string): void {
      const sorted = timesToFirstRequest.toSorted((one, other) => one.milliseconds - other.milliseconds);
      const lines: [string, number | string][] = [
        ['seed', seed],
        ['kills', kills],
        ...[...byPoint].map(([point, count]): [string, number] => [`  at ${point}`, count]),
        ...sums,
        ['ms until a resume sent, median', sorted[sorted.length >> 1]?.milliseconds ?? 0],
        ...sorted
          .slice(-5)
          .toReversed()
          .map(({ milliseconds, after }): [string, string] => [
            'ms until a resume sent, longest',
            `${milliseconds} after ${after}`,
          ]),
        ['seconds', secondsSince(startedAt)],
      ];
      console.log(lines.map(([what, value]) => `${what.padEnd(34)} ${value}`).join('\n'));
    },
  };
}

function secondsSince(begun: number): number {
  return Math.round((performance.now() - begun) / 1000);
}
