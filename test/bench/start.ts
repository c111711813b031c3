import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandList } from '../../src/cli/command-list.ts';
import { printTable } from './printing.ts';
import { median, sizeFrom } from './rounds.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const volley = join(checkout, 'src/cli/volley.js');
/** A folder with what the package has; it finds the installed packages in the checkout's node_modules. */
const packed = join(checkout, 'node_modules/.cache/volley-package');
const packedVolley = join(packed, 'src/cli/volley.js');
const peer = 'node -e 0';

/** Commands, and the limit as a multiple of the peer's time. */
const starts: readonly {
  readonly name: string;
  readonly words: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly aim?: number;
}[] = [
  { name: peer, words: ['-e', '0'] },
  { name: 'volley --version', words: [packedVolley, '--version'], aim: 2.5 },
  { name: 'volley --help', words: [packedVolley, '--help'], aim: 4 },
  ...Object.keys(commandList).map((command) => ({
    name: `volley ${command} --help`,
    words: [packedVolley, command, '--help'],
    aim: 5,
  })),
  {
    name: 'volley --version, as on a new machine',
    words: [packedVolley, '--version'],
    env: { NODE_DISABLE_COMPILE_CACHE: '1' },
  },
  { name: 'volley --version in a checkout', words: [volley, '--version'] },
  { name: 'volley --help in a checkout', words: [volley, '--help'] },
];

function makePackage(): void {
  execFileSync('npm', ['run', 'build'], { cwd: checkout, stdio: 'ignore' });
  rmSync(packed, { recursive: true, force: true });
  mkdirSync(join(packed, 'src/cli'), { recursive: true });
  for (const part of ['package.json', 'dist', 'src/cli/volley.js']) {
    cpSync(join(checkout, part), join(packed, part), { recursive: true });
  }
}

/**
 * Measures the start of the package's commands against a Node that does nothing. The first round fills the compile cache and is not
 * counted. `BENCH_ROUNDS` (21) sets the rounds.
 */
export async function benchStart(): Promise<void> {
  makePackage();
  const rounds = sizeFrom('BENCH_ROUNDS', 21);
  const times = new Map<string, number[]>(starts.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const { name, words, env } of starts) {
      const begun = performance.now();
      const { status } = spawnSync(process.execPath, words, { env: { ...process.env, ...env } });
      if (status !== 0) throw new Error(`${name} ended with ${status}`);
      if (round > 0) times.get(name)?.push(performance.now() - begun);
    }
  }
  const bare = times.get(peer) ?? [];
  const rows = starts.map(({ name, aim }) => {
    const own = times.get(name) ?? [];
    const ratio = median(own.map((time, round) => time / (bare[round] ?? Number.NaN)));
    return [name, median(own).toFixed(0), ratio.toFixed(1), aim === undefined ? '' : `≤ ${aim}`];
  });
  printTable(`start: median of ${rounds}`, ['', 'ms', `× ${peer}`, 'aim'], rows);
}
