import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Pool } from 'undici';
import { expect, test } from 'vitest';
import { type Ledger, openLedger } from '../../src/ledger/connection.ts';
import { acceptAll } from '../support/accept-all.ts';
import { slopeOf } from '../support/least-squares.ts';
import { aContact, aRun, planContacts } from '../support/ledger.ts';
import { readMetrics } from '../support/metrics.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import { startVolley, volley } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';

/** Applier, booking and purge under a steady load. */

const minutes = Number(process.env['VOLLEY_TORTURE_MINUTES'] ?? 30);
/** Minutes until pools, heap and tables have their final size. */
const warmUp = Math.min(12, minutes / 3);
const recipients = 6_000;
const token = 'a-token-of-at-least-22-characters';
const accounts = `accounts:
  main: { interface: rest-2.02, baseUrl: "http://127.0.0.1:9", authToken: "\${TOKEN}", webhookToken: "\${TOKEN}" }
`;

type Report = { readonly MessageID: string; readonly Destination: string };
type Minute = {
  readonly minute: number;
  readonly rss: number;
  readonly heap: number;
  readonly files: number;
  readonly lag: number;
  readonly unbooked: number;
  readonly applied: number;
  /** KiB of tables whose rows are deleted again. */
  readonly passing: Readonly<Record<string, number>>;
  /** Bytes per row of tables that only grow. */
  readonly growing: Readonly<Record<string, number>>;
};

test(
  `${minutes} minutes of delivery reports leave memory, files and tables level, and billing booked`,
  async () => {
    await using postgres = await startOwnPostgres();
    const url = await postgres.createDatabase();
    const ledger = await openLedger({ connectionString: url }, 'own Postgres');
    await using workspace = await makeWorkspace({ 'accounts.yaml': accounts });
    const env = {
      DATABASE_URL: url,
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      TOKEN: token,
      VOLLEY_HASH_KEY: 'soak'.repeat(16),
    };
    const surroundings = { cwd: workspace.folder, env };
    const words = ['serve', '--no-api', '--no-worker', '--no-schedules', '--port', '0'];
    const serve = startVolley(words, surroundings);
    await serve.waitForText('/webhook/main/');
    const base = /(http:\/\/127\.0\.0\.1:\d+)\/webhook/.exec(serve.stderrSoFar())?.[1] ?? '';
    const caller = new Pool(base, { connections: 8 });

    const samples: Minute[] = [];
    const runs: string[] = [];
    const sent = { answered: 0 };
    let purged = 0;
    const begun = Date.now();
    for (let minute = 0; minute < minutes; minute++) {
      const { run, reports } = await acceptedRun(ledger);
      runs.push(run);
      await sendOver(caller, callsOf(reports), begun + (minute + 1) * 60_000, sent);
      const old = runs.at(-4);
      if (old !== undefined) purged += await purgeOld(ledger.pool, old, surroundings);
      samples.push(await sample(ledger.pool, base, (Date.now() - begun) / 60_000));
      console.log(JSON.stringify(samples.at(-1)));
    }
    while ((await ledger.pool.query('SELECT FROM inbox_waiting')).rowCount !== 0) await sleep(100);
    serve.process.kill('SIGTERM');
    const { code, stderr } = await serve.ended;
    await caller.close();
    expect(code, stderr.slice(-2_000)).toBe(0);

    const { rows } = await ledger.pool.query(
      'SELECT state, count(*)::integer AS reports FROM delivery_reports GROUP BY state',
    );
    await ledger.close();
    const kept = rows.reduce((sum, { reports }) => sum + reports, 0);
    const warm = samples.filter(({ minute }) => minute >= warmUp);
    const slope = (of: (sample: Minute) => number): number =>
      slopeOf(warm.map((one) => ({ x: one.minute, y: of(one) })));
    console.log({
      minutes,
      sent: sent.answered,
      kept,
      purged,
      states: rows,
      'heap, MiB a minute': slope(({ heap }) => heap),
      'RSS, MiB a minute': slope(({ rss }) => rss),
      'files, a minute': slope(({ files }) => files),
    });
    expect(kept).toBe(sent.answered);
    expect(purged).toBe(Math.max(0, minutes - 3));
    expect(slope(({ rss }) => rss)).toBeLessThan(1);
    expect(Math.abs(slope(({ files }) => files))).toBeLessThan(1);
    for (const { lag, unbooked } of samples) {
      expect(lag).toBeLessThan(30);
      // Half a minute of reports.
      expect(unbooked).toBeLessThan(recipients);
    }
    expectLevelTables(samples, warm);
  },
  (minutes + 10) * 60_000,
);

function expectLevelTables(samples: readonly Minute[], warm: readonly Minute[]): void {
  const middle = Math.ceil(warm.length / 2);
  for (const table of Object.keys(samples[0]?.passing ?? {})) {
    const max = (some: readonly Minute[]): number =>
      Math.max(...some.map(({ passing }) => passing[table] ?? 0));
    expect(max(warm.slice(middle)), table).toBeLessThanOrEqual(1.5 * max(warm.slice(0, middle)) + 1_024);
  }
  for (const table of Object.keys(samples[0]?.growing ?? {})) {
    expect(warm.at(-1)?.growing[table], table).toBeLessThan(1.3 * (warm[0]?.growing[table] ?? 0));
  }
}

/** @returns the number of purged runs */
async function purgeOld(
  pool: pg.Pool,
  run: string,
  surroundings: { readonly cwd: string; readonly env: Record<string, string> },
): Promise<number> {
  await age(pool, run);
  const args = ['purge', '--older-than', '300d', '--yes', '--json'];
  const { code, stdout, stderr } = await volley(args, surroundings);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout).runs;
}

/** Makes a run and the unreadable reports 400 days old. */
async function age(pool: pg.Pool, run: string): Promise<void> {
  await pool.query(`UPDATE runs SET finished_at = now() - interval '400 days' WHERE run_id = $1`, [run]);
  await pool.query(
    `
    UPDATE inbox_blocks b
    SET first_received_at = now() - interval '400 days',
        received_at = ARRAY(
          SELECT CASE WHEN k.state = 'unreadable' THEN now() - interval '400 days' ELSE c.received_at END
          FROM calls_in(b) c
          LEFT JOIN unusual_delivery_reports k USING (report_id)
          ORDER BY c.report_id
        )
    WHERE last_received_at < now() - interval '3 minutes' AND first_received_at > now() - interval '1 day'
    `,
  );
}

async function acceptedRun(ledger: Ledger): Promise<{ run: string; reports: Report[] }> {
  const contacts = Array.from({ length: recipients }, (_, index) =>
    aContact(index + 2, { address: `+614${String(index).padStart(8, '0')}` }),
  );
  const run = await planContacts(ledger, aRun({ account: 'main', chunkSize: 200 }), contacts);
  await acceptAll(ledger.pool, run);
  await ledger.pool.query(`UPDATE runs SET state = 'completed', finished_at = now() WHERE run_id = $1`, [
    run,
  ]);
  const { rows } = await ledger.pool.query<Report>(
    `SELECT message_id AS "MessageID", address AS "Destination"
     FROM recipient_states WHERE run_id = $1
     ORDER BY request, position`,
    [run],
  );
  return { run, reports: rows };
}

/** Each recipient once, a fifth twice, a twentieth with two outcomes, and some unreadable. */
function callsOf(reports: readonly Report[]): string[] {
  return reports.flatMap((report, index) => {
    const delivered = { ...report, Type: 'SMS', Status: 'Success', Result: 'delivered', Price: '0.08' };
    const undelivered = { ...report, Type: 'SMS', Status: 'Failed', Result: 'Bad Number' };
    return [
      JSON.stringify({ ...delivered, Detail: 'SMSParts:1' }),
      ...(index % 5 === 0 ? [JSON.stringify(delivered)] : []),
      ...(index % 20 === 0 ? [JSON.stringify(undelivered)] : []),
      ...(index % 100 === 0 ? ['senseless'] : []),
    ];
  });
}

/** @param until epoch milliseconds */
async function sendOver(
  caller: Pool,
  bodies: readonly string[],
  until: number,
  sent: { answered: number },
): Promise<void> {
  const begun = Date.now();
  let next = 0;
  while (next < bodies.length) {
    const due = Math.ceil((bodies.length * (Date.now() - begun)) / Math.max(1, until - begun));
    await Promise.all(
      bodies.slice(next, due).map(async (body) => {
        const answer = await caller.request({ method: 'POST', path: `/webhook/main/${token}`, body });
        await answer.body.dump();
        expect(answer.statusCode).toBe(200);
        sent.answered++;
      }),
    );
    next = Math.max(next, Math.min(due, bodies.length));
    await sleep(50);
  }
}

async function sample(pool: pg.Pool, base: string, minute: number): Promise<Minute> {
  const figures = await readMetrics(base);
  const figure = (name: string): number => figures.get(name) ?? 0;
  const sizes = async (tables: readonly string[], each: string): Promise<Record<string, number>> => {
    const { rows } = await pool.query<{ name: string; size: number }>(
      `SELECT relname AS name, round(${each})::float8 AS size FROM pg_stat_user_tables WHERE relname = ANY ($1)`,
      [tables],
    );
    return Object.fromEntries(rows.map(({ name, size }) => [name, size]));
  };
  const passing = [
    'inbox_blocks_1',
    'inbox_waiting',
    'inbox_batches',
    // Outcomes are folded.
    'recipient_outcomes',
    'billing_changes',
    'billing_outcomes',
    'billing_reopened_requests',
    'runs',
  ];
  const { rows } = await pool.query<{ changes: number }>(
    'SELECT count(*)::float8 AS changes FROM billing_changes',
  );
  return {
    minute: Math.round(10 * minute) / 10,
    rss: Math.round(figure('process_resident_memory_bytes') / 1024 ** 2),
    heap: Math.round(figure('nodejs_heap_size_used_bytes') / 1024 ** 2),
    files: figure('process_open_fds'),
    lag: figure('volley_inbox_lag_seconds'),
    unbooked: rows[0]?.changes ?? 0,
    applied: figure('volley_delivery_reports_applied_total'),
    passing: await sizes(passing, 'pg_total_relation_size(relid) / 1024'),
    growing: await sizes(
      ['unusual_delivery_reports', 'folded_outcomes'],
      'pg_total_relation_size(relid) / greatest(1, n_live_tup)::numeric',
    ),
  };
}
