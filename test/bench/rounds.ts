import { Bench } from 'tinybench';

/** The size of a benchmark, which an environment variable can set. */
export function sizeFrom(variable: string, usual: number): number {
  return Number(process.env[variable] ?? usual);
}

/** Measures so many times, one after the other. */
export async function inRounds<Round>(
  count: number,
  measureRound: (round: number) => Promise<Round>,
): Promise<readonly Round[]> {
  const rounds: Round[] = [];
  for (let round = 0; round < count; round++) rounds.push(await measureRound(round));
  return rounds;
}

/** Milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** @param share 0 gives the least value, and 1 the greatest */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Median runs per second, by task. */
export type Rates = ReadonlyMap<string, number>;

const rounds = 7;
/** At least, for each task in a round. */
const milliseconds = 60;

/**
 * Measures tasks in turn, round by round, so that a slow second of the machine affects all of them. The first round
 * is a warm-up.
 */
export async function measure(tasks: Readonly<Record<string, () => unknown>>): Promise<Rates> {
  const rates = new Map<string, number[]>(Object.keys(tasks).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    const bench = new Bench({ time: milliseconds, iterations: 3, warmup: false });
    for (const [name, task] of Object.entries(tasks)) bench.add(name, task);
    await bench.run();
    if (round === 0) continue;
    for (const { name, result } of bench.tasks) {
      if (result.state === 'completed') rates.get(name)?.push(1000 / result.latency.p50);
    }
  }
  return new Map([...rates].map(([name, each]) => [name, median(each)]));
}
