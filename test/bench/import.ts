import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Table from 'cli-table3';
import { parse } from 'csv-parse';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { z } from 'zod';
import { openLedger } from '../../src/ledger/connection.ts';
import { leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { deleteHome, makeHome, throwAway } from '../support/embedded-home.ts';
import { median } from './rounds.ts';

/**
 * From a contact file to a planned run, against a bare COPY of the same file into one table; and the preview, against
 * csv-parse alone. Medians of three rounds. `BENCH_ROWS` sets other sizes than a million, with commas between.
 */
export async function benchImport(): Promise<void> {
  const sizes = (process.env['BENCH_ROWS'] ?? '1000000').split(',').map(Number);
  const folder = await mkdtemp(join(tmpdir(), 'volley-bench-'));
  const home = makeHome('volley-bench-');
  const { address } = await leaseEmbeddedServer(home, throwAway);
  const url = `postgres://${address.user}:${address.password}@${address.host}:${address.port}/${address.database}`;
  const table = new Table({
    head: [
      'rows',
      'COPY',
      'to planned',
      'ratio',
      'aim',
      'csv-parse',
      'preview',
      'ratio',
      'aim',
      'µs/row',
      'peak',
      'of preview',
    ],
    style: { head: [], border: [] },
  });
  try {
    await suppressSome(url);
    for (const rows of sizes) table.push(await measureSize(folder, url, rows));
  } finally {
    await rm(folder, { recursive: true });
    deleteHome(home);
  }
  console.log(
    'import: 7 columns, phones normalised, 1 in 50 a duplicate, 1 in 100 of 100,000 suppressions met, 5,000 envelopes',
  );
  console.log(table.toString());
}

/** A hundred thousand suppressed mobiles; some are among the contacts. */
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

async function measureSize(folder: string, url: string, rows: number): Promise<string[]> {
  const file = join(folder, `${rows}.csv`);
  await writeContacts(file, rows);
  const campaign = join(folder, `${rows}.yaml`);
  await writeFile(campaign, campaignFor(`${rows}.csv`));
  await writeFile(join(folder, 'accounts.yaml'), accounts);

  const rounds: Round[] = [];
  for (let round = 0; round < (rows > largeSize ? 1 : 3); round++) {
    const copy = await seconds(() => bareCopy(url, file));
    const planned = await inChild('ledger', campaign, url, folder);
    const parsing = await seconds(() => parseAlone(file));
    const preview = await inChild('preview', campaign, '', folder);
    rounds.push({
      copy,
      planned: planned.seconds,
      parsing,
      preview: preview.seconds,
      peakBytes: planned.peakBytes,
      previewBytes: preview.peakBytes,
    });
  }
  const middle = (numberOf: (round: Round) => number): number => median(rounds.map(numberOf));
  const planned = middle((round) => round.planned);
  return [
    rows.toLocaleString('en'),
    `${middle(({ copy }) => copy).toFixed(1)} s`,
    `${planned.toFixed(1)} s`,
    middle((round) => round.copy / round.planned).toFixed(3),
    '0.15',
    `${middle(({ parsing }) => parsing).toFixed(1)} s`,
    `${middle(({ preview }) => preview).toFixed(1)} s`,
    middle((round) => round.parsing / round.preview).toFixed(2),
    '0.3',
    ((planned / rows) * 1e6).toFixed(1),
    mebibytes(rounds.map(({ peakBytes }) => peakBytes)),
    mebibytes(rounds.map(({ previewBytes }) => previewBytes)),
  ];
}

/** Seconds, and the peak of the process that planned. */
type Round = {
  readonly copy: number;
  readonly planned: number;
  readonly parsing: number;
  readonly preview: number;
  readonly peakBytes: number;
  readonly previewBytes: number;
};

const mebibytes = (bytes: readonly number[]): string => `${Math.round(Math.max(...bytes) / 1024 / 1024)} MiB`;

/** Above it, one round is long enough. */
const largeSize = 1_000_000;

const accounts = `accounts:
  bench: { interface: rest-2.02, baseUrl: http://127.0.0.1:9, authToken: "\${BENCH_TOKEN}" }
`;

function campaignFor(file: string): string {
  return `campaign: bench
account: bench
channel: sms
contacts: { file: ${file}, country: AU, columns: { Recipient: mobile, First Name: first_name, Last Name: last_name } }
message:
  Message: "Hi [[First Name|there]], power is off in [[city]] tonight. [[STOP]]"
  SubAccount: "[[state]]"
  ChargeCode: "NET-[[post]]"
`;
}

const states = ['NSW', 'VIC', 'QLD', 'WA', 'SA'];

/** Mobile numbers of Australia in national writing, 0400 to 0439; the same file for the same number of rows. */
async function writeContacts(file: string, rows: number): Promise<void> {
  async function* lines(): AsyncGenerator<string> {
    let piece = 'first_name,last_name,mobile,city,state,post,email\n';
    for (let row = 0; row < rows; row++) {
      const number = row % 50 === 49 ? row - 1 : row;
      const digits = String((number * 7) % 39_999_983).padStart(8, '0');
      const post = 1000 + (row % 1000);
      piece += `Ann${row % 997},Example,04${digits.slice(0, 2)} ${digits.slice(2, 5)} ${digits.slice(5)},City ${row % 313},${states[row % 5]},${post},ann${row}@example.com\n`;
      if (piece.length > 65_536) {
        yield piece;
        piece = '';
      }
    }
    yield piece;
  }
  await pipeline(lines(), createWriteStream(file));
}

async function seconds(act: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await act();
  return (performance.now() - begun) / 1000;
}

async function bareCopy(url: string, file: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    'DROP TABLE IF EXISTS bare; CREATE TABLE bare (a text, b text, c text, d text, e text, f text, g text)',
  );
  await pipeline(createReadStream(file), client.query(copyFrom('COPY bare FROM STDIN (FORMAT csv, HEADER)')));
  await client.end();
}

async function parseAlone(file: string): Promise<void> {
  let count = 0;
  for await (const row of createReadStream(file).pipe(parse())) count += row.length;
  if (count === 0) throw new Error('nothing was read');
}

const outcome = z.object({ seconds: z.number(), peakBytes: z.number() });

async function inChild(kind: string, campaign: string, url: string, folder: string) {
  const script = fileURLToPath(new URL('./plan-once.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, kind, campaign, url], {
    cwd: folder,
    env: { ...process.env, VOLLEY_ACCOUNTS: 'accounts.yaml', BENCH_TOKEN: 'token-of-the-bench' },
    maxBuffer: 1024 * 1024,
  });
  return outcome.parse(JSON.parse(stdout));
}
