import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { volley } from '../support/volley.ts';
import { type Bench, type Cost, measureResume } from './dispatch/rounds.ts';
import { startService } from './dispatch/start-service.ts';
import { environmentFor, planRun } from './dispatch/volley.ts';
import { inBench } from './dispatch.ts';
import { grouped, printTable } from './printing.ts';
import { inRounds, median, sizeFrom } from './rounds.ts';
import { startServer } from './servers.ts';

/** Everything that a run can watch, and a cap. The canary is promoted before the measurement, which would be a wait. */
const watching = `
canary: { recipients: 1, observe: 1s, promote: manual, abort: {} }
guard: { undelivered: { above: 5%, or: usual }, silence: 20m, rejected: 2%, unknown: 2% }
variants:
  - { name: first, share: 50% }
  - { name: second, share: 50%, message: { Reference: other } }
`;

/**
 * Measures a run with canary, guard, variants and a cap beside one without, in turn: from the first request after the
 * promotion until it is completed. `BENCH_REQUESTS` (100,000) sets the requests of one recipient, `BENCH_ROUNDS` (5)
 * the rounds.
 */
export async function benchWatched(): Promise<void> {
  const requests = sizeFrom('BENCH_REQUESTS', 100_000);
  const rounds = sizeFrom('BENCH_ROUNDS', 5);
  await using server = await startServer();
  await using service = await startService();
  await inBench(server, service, { requests, recipients: 1 }, async (bench) => {
    const watched = join(bench.workspace.folder, 'watched.yaml');
    await writeFile(watched, (await readFile(bench.campaign, 'utf8')) + watching);
    await appendFile(
      join(bench.workspace.folder, 'accounts.yaml'),
      '    frequency: { most: 1000, within: 1d, over: [sms] }\n',
    );
    const measured = await inRounds(rounds, async (round) => {
      const sides = [() => sendPlain(bench), () => sendWatched(bench, watched)] as const;
      // Who goes first changes from round to round.
      const [one, other] = round % 2 === 0 ? sides : [sides[1], sides[0]];
      const [first, second] = [await one(), await other()];
      return round % 2 === 0 ? { plain: first, watched: second } : { plain: second, watched: first };
    });
    printRounds(requests, measured);
  });
}

async function sendPlain(bench: Bench): Promise<Cost> {
  return measureResume(await planRun(bench.campaign, bench.workspace), bench);
}

async function sendWatched(bench: Bench, campaign: string): Promise<Cost> {
  const run = await planRun(campaign, bench.workspace);
  const at = { cwd: bench.workspace.folder, env: environmentFor(bench.workspace) };
  await volley(['resume', run], at);
  const { code, stderr } = await volley(['promote', run, '--reason', 'measured without its wait'], at);
  if (code !== 0) throw new Error(stderr);
  return measureResume(run, bench);
}

function printRounds(
  requests: number,
  rounds: readonly { readonly plain: Cost; readonly watched: Cost }[],
): void {
  const figures = {
    seconds: ({ seconds }: Cost) => seconds,
    'processor of Volley, s': ({ processor }: Cost) => processor.own,
    'processor of Postgres, s': ({ processor }: Cost) => processor.postgres,
  };
  printTable(
    `watched: ${grouped(requests)} requests of one recipient, with canary, guard, variants and a cap, and without, in turn; median of ${rounds.length}`,
    ['', 'without', 'with', 'ratio', 'aim'],
    Object.entries(figures).map(([name, figure]) => {
      const plain = median(rounds.map((round) => figure(round.plain)));
      const watched = median(rounds.map((round) => figure(round.watched)));
      const ratio = median(rounds.map((round) => figure(round.watched) / figure(round.plain)));
      return [name, plain.toFixed(2), watched.toFixed(2), ratio.toFixed(3), '≤ 1.03'];
    }),
  );
}
