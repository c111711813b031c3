import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Table from 'cli-table3';
import { parse } from 'csv-parse';
import { z } from 'zod';
import { openLedger } from '../../src/ledger/connection.ts';
import { embeddedServerStatus, leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { deleteHome, makeHome, throwAwayOptions } from '../support/embedded-home.ts';
import { urlOfServer } from '../support/server-rights.ts';
import { postgresSeconds } from './dispatch/processor-time.ts';
import { importByHand } from './import/by-hand.ts';
import { type Workload, writeWorkload } from './import/contacts.ts';
import { median } from './rounds.ts';

/**
 * Measures a contact file until its run is planned, against a bare COPY and against COPY with hand-written SQL; one
 * request for each contact, against chunks; and the preview, against csv-parse. Medians of three rounds. `BENCH_ROWS`
 * sets the sizes, separated by commas (default: a million).
 */
export async function benchImport(): Promise<void> {
  const sizes = (process.env['BENCH_ROWS'] ?? '1000000').split(',').map(Number);
  const folder = await mkdtemp(join(tmpdir(), 'volley-bench-'));
  const home = makeHome('volley-bench-');
  const { address } = await leaseEmbeddedServer(home, throwAwayOptions);
  const status = embeddedServerStatus(home);
  const server = {
    url: `${urlOfServer(address)}/${address.database}`,
    postmaster: status.state === 'running' ? status.pid : Number.NaN,
  };
  try {
    await suppressSome(server.url);
    for (const rows of sizes) {
      const workload = await writeWorkload(folder, rows);
      const rounds: Round[] = [];
      for (let round = 0; round < (rows > largeSize ? 1 : 3); round++)
        rounds.push(await measureRound(server, workload));
      printRounds(rows, rounds);
    }
  } finally {
    await rm(folder, { recursive: true });
    deleteHome(home);
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

type Server = { readonly url: string; readonly postmaster: number };

const planned = z.object({
  seconds: z.number(),
  readSeconds: z.number(),
  processorSeconds: z.number(),
  peakBytes: z.number(),
});

type Planned = z.infer<typeof planned> & { readonly postgresSeconds: number };

type Round = {
  /** Seconds. */
  readonly copy: number;
  readonly byHand: number;
  readonly parsing: number;
  readonly chunks: Planned;
  readonly own: Planned;
  readonly preview: Planned;
};

async function measureRound(server: Server, { folder, file, campaigns }: Workload): Promise<Round> {
  const { copy, ready } = await importByHand(server.url, file);
  const chunks = await planInChild('ledger', campaigns.chunks, server, folder);
  const own = await planInChild('ledger', campaigns.own, server, folder);
  const parsing = await parseAlone(file);
  const preview = await planInChild('preview', campaigns.chunks, server, folder);
  return { copy, byHand: ready, parsing, chunks, own, preview };
}

function printRounds(rows: number, rounds: readonly Round[]): void {
  const middle = (numberOf: (round: Round) => number): number => median(rounds.map(numberOf));
  const table = new Table({
    head: [`${rows.toLocaleString('en')} rows`, 'seconds', 'ratio', 'aim', 'processor, µs/row', 'peak'],
    style: { head: [], border: [] },
  });
  const row = (
    name: string,
    secondsOf: (round: Round) => number,
    ratioOf?: (round: Round) => number,
    aim = '',
    of?: 'chunks' | 'own' | 'preview',
  ): void => {
    const seconds = middle(secondsOf).toFixed(2);
    const ratio = ratioOf ? middle(ratioOf).toFixed(3) : '';
    if (!of) {
      table.push([name, seconds, ratio, aim, '', '']);
      return;
    }
    const perRow = (used: (plan: Planned) => number): string =>
      ((middle((round) => used(round[of])) / rows) * 1e6).toFixed(1);
    const processor = `${perRow((plan) => plan.processorSeconds)} + ${perRow((plan) => plan.postgresSeconds)}`;
    const peak = Math.max(...rounds.map((round) => round[of].peakBytes)) / 1024 / 1024;
    table.push([name, seconds, ratio, aim, processor, `${Math.round(peak)} MiB`]);
  };
  const { chunks, own } = { chunks: (round: Round) => round.chunks, own: (round: Round) => round.own };
  row('bare COPY', ({ copy }) => copy);
  row('COPY and SQL by hand', ({ byHand }) => byHand);
  row(
    'to planned, of COPY',
    (r) => chunks(r).seconds,
    (r) => r.copy / chunks(r).seconds,
    '0.2',
    'chunks',
  );
  row(
    '  its reading alone, of COPY',
    (r) => chunks(r).readSeconds,
    (r) => r.copy / chunks(r).readSeconds,
  );
  row(
    'to planned, of SQL by hand',
    (r) => chunks(r).seconds,
    (r) => r.byHand / chunks(r).seconds,
  );
  const times = (r: Round): number => own(r).seconds / chunks(r).seconds;
  row('a request each, × in chunks', (r) => own(r).seconds, times, '≤ 2', 'own');
  row('csv-parse', ({ parsing }) => parsing);
  row(
    'preview, of csv-parse',
    (r) => r.preview.seconds,
    (r) => r.parsing / r.preview.seconds,
    '0.3',
    'preview',
  );
  console.log(
    'import: 7 columns, phones normalised, 1 in 50 a duplicate, 1 in 100 of 100,000 suppressions met, 5,000 envelopes; processor: own + Postgres',
  );
  console.log(table.toString());
}

async function parseAlone(file: string): Promise<number> {
  const begun = performance.now();
  let count = 0;
  for await (const row of createReadStream(file).pipe(parse())) count += row.length;
  if (count === 0) throw new Error('nothing was read');
  return (performance.now() - begun) / 1000;
}

async function planInChild(
  kind: 'ledger' | 'preview',
  campaign: string,
  { url, postmaster }: Server,
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
