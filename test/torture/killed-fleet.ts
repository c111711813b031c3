import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { type Started, startVolley } from '../support/volley.ts';

export type FleetMember = {
  readonly name: string;
  readonly args: readonly string[];
  /** Printed to standard error when the member is ready. */
  readonly readyText: string;
};

export type Fleet = {
  /** Resolves when the time has passed; members keep running. */
  readonly killed: Promise<void>;
  readonly kills: () => number;
  /** Ends all members, and returns their exit codes. */
  readonly stop: () => Promise<readonly (number | null)[]>;
};

/**
 * Milliseconds until a process is killed, and until it is started again. Most are killed after they are ready,
 * because on a busy machine starting takes longest.
 */
const maxLife = 20_000;
const shareKilledWhileStarting = 0.2;
const maxGap = 2_000;

/**
 * Starts processes of the command line, and kills and restarts each at random.
 *
 * @param milliseconds until the kills end
 */
export function startFleet(
  members: readonly FleetMember[],
  surroundings: Parameters<typeof startVolley>[1],
  milliseconds: number,
  seed: string,
): Fleet {
  const end = performance.now() + milliseconds;
  const last = new Map<string, Started>();
  let kills = 0;

  async function keep({ name, args, readyText }: FleetMember): Promise<void> {
    for (let life = 0; ; life++) {
      const started = startVolley(args, surroundings);
      last.set(name, started);
      const lives = seededRandom(seed, name, 'life', life) * maxLife;
      if (seededRandom(seed, name, 'start', life) >= shareKilledWhileStarting)
        await started.waitForText(readyText);
      const left = end - performance.now();
      if (left <= lives) {
        await started.waitForText(readyText);
        await sleep(Math.max(0, left));
        return;
      }
      await sleep(lives);
      if (started.process.exitCode !== null) {
        throw new Error(`${name} has ended by itself: ${(await started.ended).stderr.slice(-2_000)}`);
      }
      started.process.kill('SIGKILL');
      kills++;
      await started.ended;
      await sleep(seededRandom(seed, name, 'gap', life) * maxGap);
    }
  }

  const killed = Promise.all(members.map(keep)).then(() => undefined);
  return {
    killed,
    kills: () => kills,
    async stop() {
      for (const { process } of last.values()) process.kill('SIGTERM');
      return Promise.all([...last.values()].map(async ({ ended }) => (await ended).code));
    },
  };
}
