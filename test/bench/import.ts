import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'csv-parse';
import { z } from 'zod';
import { openLedger } from '../../src/ledger/connection.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { postgresSeconds } from './dispatch/processor-time.ts';
import { importByHand } from './import/by-hand.ts';
import { type Workload, writeWorkload } from './import/contacts.ts';
import { grouped, printTable } from './printing.ts';
import { inRounds, median, timed } from './rounds.ts';
import { type BenchServer, createDatabase, startServer } from './servers.ts';

/**
 * Measures a contact file until its run is planned, against a bare COPY and against COPY with hand-written SQL; one
 * request for each contact, against chunks; and the preview, against csv-parse. Medians of three rounds. `BENCH_ROWS`
 * sets the sizes, separated by commas (default: a million).
 */
export async function benchImport(): Promise<void> {
  const sizes = (process.env['BENCH_ROWS'] ?? '1000000').split(',').map(Number);
  await using bench = await startServer('disposable');
  await using workspace = await makeWorkspace();
  const server = { ...bench, url: await createDatabase(bench, 'bench') };
  await suppressSome(server.url);
  for (const rows of sizes) {
    const workload = await writeWorkload(workspace.folder, rows);
    const rounds = await inRounds(rows > largeSize ? 1 : 3, () => measureRound(server, workload));
    printRounds(rows, rounds);
  }
}

/** Larger files are measured in one round. */
const largeSize = 1_000_000;

/** Suppresses 100,000 mobiles; some are contacts. */
async function suppressSome(url: string): Promise<void> {
  const ledger = await openLedger({ connectionString: url }, 'bench');
  await ledger.pool.query(`
    INSERT INTO suppressions (channel, address, reason, source, created_at)
    SELECT 'sms', '+614' || lpad((n * 700)::text, 8, '0'), '', 'import', now()
    FROM generate_series(1, 100000) AS n
    ON CONFLICT DO NOTHING
  `);
  await ledger.close();
}

const planned = z.object({
  seconds: z.number(),
  readSeconds: z.number(),
  processorSeconds: z.number(),
  peakBytes: z.number(),
});

type Planned = z.infer<typeof planned> & { readonly postgresSeconds: number };

type PlanName = 'chunks' | 'own' | 'preview';

type Round = Readonly<Record<PlanName, Planned>> & {
  /** Seconds. */
  readonly copy: number;
  readonly byHand: number;
  readonly parsing: number;
};

async function measureRound(server: BenchServer, { folder, file, campaigns }: Workload): Promise<Round> {
  const { copy, ready } = await importByHand(server.url, file);
  const chunks = await planInChild('ledger', campaigns.chunks, server, folder);
  const own = await planInChild('ledger', campaigns.own, server, folder);
  const parsing = await parseAlone(file);
  const preview = await planInChild('preview', campaigns.chunks, server, folder);
  return { copy, byHand: ready, parsing, chunks, own, preview };
}

function printRounds(rows: number, rounds: readonly Round[]): void {
  const middle = (numberOf: (round: Round) => number): number => median(rounds.map(numberOf));
  /** `of`: the plan whose processor time and memory are shown. */
  const row = (
    name: string,
    secondsOf: (round: Round) => number,
    { ratio, aim = '', of }: { ratio?: (round: Round) => number; aim?: string; of?: PlanName } = {},
  ): string[] => {
    const figures = [name, middle(secondsOf).toFixed(2), ratio ? middle(ratio).toFixed(3) : '', aim];
    if (!of) return [...figures, '', ''];
    const perRow = (used: (plan: Planned) => number): string =>
      ((middle((round) => used(round[of])) / rows) * 1e6).toFixed(1);
    const processor = `${perRow((plan) => plan.processorSeconds)} + ${perRow((plan) => plan.postgresSeconds)}`;
    const peak = Math.max(...rounds.map((round) => round[of].peakBytes)) / 1024 / 1024;
    return [...figures, processor, `${Math.round(peak)} MiB`];
  };
  const planned = ({ chunks }: Round): number => chunks.seconds;
  const reading = ({ chunks }: Round): number => chunks.readSeconds;
  printTable(
    'import: 7 columns, phones normalised, 1 in 50 a duplicate, 1 in 100 of 100,000 suppressions met, 5,000 envelopes; processor: own + Postgres',
    [`${grouped(rows)} rows`, 'seconds', 'ratio', 'aim', 'processor, µs/row', 'peak'],
    [
      row('bare COPY', ({ copy }) => copy),
      row('COPY and SQL by hand', ({ byHand }) => byHand),
      row('to planned, of COPY', planned, { ratio: (r) => r.copy / planned(r), aim: '0.2', of: 'chunks' }),
      row('  its reading alone, of COPY', reading, { ratio: (r) => r.copy / reading(r) }),
      row('to planned, of SQL by hand', planned, { ratio: (r) => r.byHand / planned(r) }),
      row('a request each, × in chunks', ({ own }) => own.seconds, {
        ratio: (r) => r.own.seconds / planned(r),
        aim: '≤ 2',
        of: 'own',
      }),
      row('csv-parse', ({ parsing }) => parsing),
      row('preview, of csv-parse', ({ preview }) => preview.seconds, {
        ratio: (r) => r.parsing / r.preview.seconds,
        aim: '0.3',
        of: 'preview',
      }),
    ],
  );
}

async function parseAlone(file: string): Promise<number> {
  const milliseconds = await timed(async () => {
    let count = 0;
    for await (const row of createReadStream(file).pipe(parse())) count += row.length;
    if (count === 0) throw new Error('nothing was read');
  });
  return milliseconds / 1000;
}

async function planInChild(
  kind: 'ledger' | 'preview',
  campaign: string,
  { url, postmaster }: BenchServer,
  folder: string,
): Promise<Planned> {
  const script = fileURLToPath(new URL('./plan-once.ts', import.meta.url));
  const before = postgresSeconds(postmaster);
  const { stdout } = await promisify(execFile)(process.execPath, [script, kind, campaign, url], {
    cwd: folder,
    env: { ...process.env, VOLLEY_ACCOUNTS: 'accounts.yaml', BENCH_TOKEN: 'token-of-the-bench' },
    maxBuffer: 1024 * 1024,
  });
  return { ...planned.parse(JSON.parse(stdout)), postgresSeconds: postgresSeconds(postmaster) - before };
}
