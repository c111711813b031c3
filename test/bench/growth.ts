import { parseArgs } from 'node:util';
import { volley } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { startService } from './dispatch/start-service.ts';
import { environmentFor } from './dispatch/volley.ts';
import type { Workload } from './dispatch/workload.ts';
import {
  type GrowthBench,
  measureRun,
  type Phase,
  phases,
  type RunUse,
  type Use,
  whole,
} from './growth/measure-run.ts';
import { copyRun } from './growth/older-runs.ts';
import { measureSnapshot } from './growth/snapshot.ts';
import { grouped, printTable } from './printing.ts';
import { inRounds, median } from './rounds.ts';
import { createDatabase, startServer } from './servers.ts';

const options = {
  'no-reports': { type: 'boolean', default: false },
  chunk: { type: 'string', default: '1' },
  beside: { type: 'string' },
  snapshot: { type: 'string' },
  small: { type: 'string', default: '100000' },
} as const;

const comparedRounds = 3;
const mebibyte = 1024 * 1024;

/** Ratios to the smallest run, or to the run alone; MiB. */
const aims = { growth: '≤ 1.15', beside: '≤ 1.10', memory: '≤ 200' };

/**
 * Measures what a million recipients cost in runs of different sizes, each in a Postgres of its own with its default
 * settings; a run beside older runs; and a run while a session holds an old snapshot.
 *
 * Arguments: sizes of runs (100000 1000000 10000000); `--beside N`, recipients of older runs (50000000); `--snapshot
 * N`, minutes for which a snapshot is held (30); `--small N`, recipients of the runs beside them (100000);
 * `--no-reports`; `--chunk N`, recipients of a request (1). With arguments, only what they name is measured.
 */
export async function benchGrowth(words: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
  const reports = !values['no-reports'];
  const isWhole = positionals.length === 0 && values.beside === undefined && values.snapshot === undefined;
  const sizes = isWhole ? [100_000, 1_000_000, 10_000_000] : positionals.map(Number);
  const chunk = Number(values.chunk);
  if (sizes.length > 0) await printSizes(sizes, chunk, reports);
  const beside = Number(values.beside ?? (isWhole ? 50_000_000 : 0));
  const small = Number(values.small);
  if (beside > 0) await printBeside(beside, workloadOf(small, chunk), reports);
  const minutes = Number(values.snapshot ?? (isWhole ? 30 : 0));
  if (minutes > 0) await printSnapshot(minutes, workloadOf(small, chunk));
}

/** Each has a database of its own. */
async function inGrowthBench<Result>(work: (bench: GrowthBench) => Promise<Result>): Promise<Result> {
  await using server = await startServer();
  await using service = await startService();
  await using workspace = await makeWorkspace();
  const benchWorkspace = { folder: workspace.folder, databaseUrl: await createDatabase(server, 'growth') };
  const { code, stderr } = await volley(['db', 'migrate'], { env: environmentFor(benchWorkspace) });
  if (code !== 0) throw new Error(stderr);
  return await work({ workspace: benchWorkspace, service, postmaster: server.postmaster });
}

const workloadOf = (recipients: number, chunk: number): Workload => ({
  requests: Math.ceil(recipients / chunk),
  recipients: chunk,
});

async function printSizes(sizes: readonly number[], chunk: number, reports: boolean): Promise<void> {
  const uses: RunUse[] = [];
  for (const size of sizes)
    uses.push(
      await inGrowthBench((bench) => measureRun(bench, workloadOf(size, chunk), { reports, purge: true })),
    );
  const what = `growth: runs in requests of ${chunk}, ${reports ? 'all reported' : 'without reports'}`;
  const head = sizes.flatMap((size, index) => (index === 0 ? [grouped(size)] : [grouped(size), 'ratio']));
  const measured = phases.filter((phase) => uses.every((use) => use[phase] !== undefined));
  for (const [title, figure] of figures) {
    const rows = measured.map((phase) => {
      const amounts = uses.map(
        (use, index) => amountOf(use, phase, figure) / (whole.has(phase) ? 1 : (sizes[index] ?? 1) / 1e6),
      );
      const [least = Number.NaN] = amounts;
      const cells = amounts.map((amount, index) =>
        index === 0 ? [shown(amount)] : [shown(amount), (amount / least).toFixed(2)],
      );
      return [whole.has(phase) ? `${phase}, once` : phase, ...cells.flat()];
    });
    printTable(
      `${what}: ${title} for a million recipients (aim of the ratio: ${aims.growth})`,
      ['', ...head],
      rows,
    );
  }
  const memory = measured.map((phase) => [phase, ...uses.map((use) => peakOf(use, phase)), aims.memory]);
  printTable(
    `${what}: peak memory of the process, MiB; import and dispatch share one`,
    ['', ...sizes.map(grouped), 'aim'],
    memory,
  );
}

const figures = [
  ['seconds', 'seconds'],
  ['processor seconds of Volley', 'node'],
  ['processor seconds of Postgres', 'postgres'],
] as const satisfies readonly (readonly [string, keyof Use])[];

const amountOf = (use: RunUse, phase: Phase, figure: keyof Use): number => use[phase]?.[figure] ?? Number.NaN;

const peakOf = (use: RunUse, phase: Phase): string =>
  (amountOf(use, phase, 'peakBytes') / mebibyte).toFixed(0);

const shown = (amount: number): string => amount.toFixed(amount < 10 ? 3 : 1);

async function printBeside(beside: number, workload: Workload, reports: boolean): Promise<void> {
  const recipients = workload.requests * workload.recipients;
  await inGrowthBench(async (bench) => {
    const sendOne = () => measureRun(bench, workload, { reports, purge: false });
    const alone = await inRounds(comparedRounds, sendOne);
    const [{ run } = { run: '' }] = alone;
    await copyRun(bench.workspace.databaseUrl, run, Math.ceil(beside / recipients));
    const crowded = await inRounds(comparedRounds, sendOne);
    printComparison(
      `growth: a run of ${grouped(recipients)} in requests of ${workload.recipients}, beside older runs of ${grouped(beside)} recipients, median of ${comparedRounds}`,
      ['alone', 'beside them'],
      [alone, crowded],
    );
  });
}

async function printSnapshot(minutes: number, workload: Workload): Promise<void> {
  await inGrowthBench(async (bench) => {
    const { before, held, runs } = await measureSnapshot(bench, workload, minutes);
    printComparison(
      `growth: runs of ${grouped(workload.requests * workload.recipients)} in requests of ${workload.recipients}, while a session holds a snapshot for ${minutes} minutes and ${runs} runs; the last ${held.length} of them`,
      ['before', 'held'],
      [before, held],
    );
  });
}

function printComparison(
  title: string,
  [one, other]: readonly [string, string],
  [before, after]: readonly [readonly RunUse[], readonly RunUse[]],
): void {
  const measured = phases.filter((phase) => before[0]?.[phase] !== undefined);
  const rows = measured.map((phase) => [
    phase,
    ...figures.flatMap(([, figure]) => {
      const middle = (uses: readonly RunUse[]): number =>
        median(uses.map((use) => amountOf(use, phase, figure)));
      return [shown(middle(before)), shown(middle(after)), (middle(after) / middle(before)).toFixed(2)];
    }),
  ]);
  const head = figures.flatMap(([title]) => [`${title}, ${one}`, other, aims.beside]);
  printTable(title, ['', ...head], rows);
}
