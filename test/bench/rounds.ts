import { Bench } from 'tinybench';

/** Median runs per second, by task. */
export type Rates = ReadonlyMap<string, number>;

const rounds = 7;

/**
 * Measures tasks in turn, round by round, so that a slow second of the machine affects all of them. The first round
 * is a warm-up.
 *
 * @param milliseconds minimum for each task in a round
 */
export async function measure(
  tasks: Readonly<Record<string, () => unknown>>,
  milliseconds = 60,
): Promise<Rates> {
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

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
