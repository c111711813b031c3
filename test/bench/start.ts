import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { median } from './rounds.ts';

const volley = fileURLToPath(new URL('../../src/cli/volley.js', import.meta.url));
const peer = 'node -e 0';

/** Commands, and the limit as a multiple of the peer's time. */
const starts: readonly {
  readonly name: string;
  readonly words: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly aim?: number;
}[] = [
  { name: peer, words: ['-e', '0'] },
  { name: 'volley --version', words: [volley, '--version'], aim: 3 },
  { name: 'volley --help', words: [volley, '--help'], aim: 3 },
  { name: 'volley runs --help', words: [volley, 'runs', '--help'] },
  { name: 'volley run --help', words: [volley, 'run', '--help'] },
  {
    name: 'volley --version, as on a new machine',
    words: [volley, '--version'],
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
  },
];

/**
 * Measures the start of commands against a Node that does nothing. The first round fills the compile cache and is not
 * counted. `BENCH_ROUNDS` (21) sets the rounds.
 */
export async function benchStart(): Promise<void> {
  const rounds = Number(process.env['BENCH_ROUNDS'] ?? '21');
  const times = new Map<string, number[]>(starts.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const { name, words, env } of starts) {
      const begun = performance.now();
      const { status } = spawnSync(process.execPath, words, { env: { ...process.env, ...env } });
      if (status !== 0) throw new Error(`${name} ended with ${status}`);
      if (round > 0) times.get(name)?.push(performance.now() - begun);
    }
  }
  const table = new Table({ head: ['', 'ms', `× ${peer}`, 'aim'], style: { head: [], border: [] } });
  const bare = times.get(peer) ?? [];
  for (const { name, aim } of starts) {
    const own = times.get(name) ?? [];
    const ratio = median(own.map((time, round) => time / (bare[round] ?? Number.NaN)));
    table.push([name, median(own).toFixed(0), ratio.toFixed(1), aim === undefined ? '' : `≤ ${aim}`]);
  }
  console.log(`start: median of ${rounds}`);
  console.log(table.toString());
}
