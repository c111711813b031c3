import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { openLedger } from '../../src/ledger/connection.ts';
import { type RunCounts, readRunCounts } from '../../src/ledger/counts/run-counts.ts';
import type { FormerLedger } from '../support/former-ledger.ts';
import { runStatement } from '../support/statement.ts';
import { startVolley } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { environmentFor } from './dispatch/volley.ts';
import { grouped, printTable } from './printing.ts';
import { timed } from './rounds.ts';
import { createDatabase, startServer } from './servers.ts';
import { addFormerRuns, isAdded, recipientsOfRun } from './upgrade/former-runs.ts';

const kills = 5;
const fixture = new URL('../fixtures/ledgers/0.3.0/', import.meta.url);

/**
 * Migrates a ledger of Volley 0.3.0 that has so many recipients, in runs of 100,000, and prints the seconds. Migrates a copy
 * of it too, by processes that are killed at a random time, until one ends. Prints the counts and the billing of both
 * beside those of before.
 *
 * @param words the number of recipients (10,000,000)
 */
export async function benchUpgrade([recipients = '10000000']: readonly string[]): Promise<void> {
  const runs = Math.ceil(Number(recipients) / recipientsOfRun);
  await using server = await startServer();
  await using workspace = await makeWorkspace();
  const { folder } = workspace;
  const former = await createDatabase(server, 'former');
  await runStatement(former, readFileSync(new URL('ledger.sql', fixture), 'utf8'));
  const expected: FormerLedger = JSON.parse(readFileSync(new URL('expected.json', fixture), 'utf8'));
  const superuser = new URL(server.superuserUrl);
  superuser.pathname = '/former';
  await addFormerRuns(superuser.href, expected.runs.unreported, runs);
  const before = await readFormerFigures(former);
  await runStatement(`${server.url}/postgres`, 'CREATE DATABASE killed TEMPLATE former STRATEGY file_copy');
  const migrate = (databaseUrl: string) =>
    startVolley(['db', 'migrate'], { cwd: folder, env: environmentFor({ folder, databaseUrl }) });

  const seconds = (await timed(() => requireDone(migrate(former)))) / 1_000;

  const killed = `${server.url}/killed`;
  let interrupted = 0;
  for (let kill = 0; kill < kills; kill++) {
    const { process: migration, ended } = migrate(killed);
    const time = Math.random() * seconds * 1_000;
    if ((await Promise.race([ended, sleep(time, 'killed' as const)])) !== 'killed') continue;
    migration.kill('SIGKILL');
    await ended;
    interrupted++;
  }
  const repeated = (await timed(() => requireDone(migrate(killed)))) / 1_000;

  const after = await readFigures(former);
  const afterKills = await readFigures(killed);
  printTable(
    `upgrade: a ledger of 0.3.0 with ${grouped(runs * recipientsOfRun)} recipients; migrated in ${seconds.toFixed(1)} s; a copy, after ${interrupted} killed migrations, in ${repeated.toFixed(1)} s`,
    ['', 'before', 'after', 'after kills'],
    Object.keys(before).map((name) => [name, ...[before, after, afterKills].map((of) => of[name] ?? '')]),
  );
  const isSame = isDeepStrictEqual(before, after) && isDeepStrictEqual(before, afterKills);
  console.log(isSame ? 'Nothing differs.' : 'Some figures differ.');
}

/** By what they count, all added runs together. */
type Figures = Readonly<Record<string, string>>;

const billed = ['requests', 'recipients', 'accepted', 'failed', 'delivered', 'undelivered', 'units', 'price'];

const readBilled = async (databaseUrl: string, entries: string): Promise<Figures> => {
  const sums = billed.map((figure) => `CAST(trim_scale(sum(${figure})) AS text) AS "billed: ${figure}"`);
  const [row] = await runStatement(
    databaseUrl,
    `SELECT ${sums.join(', ')} FROM ${entries} r WHERE ${isAdded}`,
  );
  return Object.fromEntries(Object.entries(row ?? {}).map(([name, value]) => [name, String(value)]));
};

/** Counts every request and recipient. */
async function readFormerFigures(databaseUrl: string): Promise<Figures> {
  const rows = await runStatement(
    databaseUrl,
    `SELECT 'requests: ' || state AS name, count(*) FROM request_states r WHERE ${isAdded} GROUP BY 1
     UNION ALL
     SELECT 'recipients: ' || outcome, count(*) FROM recipient_outcomes r WHERE ${isAdded} GROUP BY 1
     ORDER BY 1`,
  );
  const counts = Object.fromEntries(rows.map(({ name, count }) => [String(name), String(count)]));
  return { ...counts, ...(await readBilled(databaseUrl, 'billing_entries')) };
}

/** Adds up what this version keeps: `run_counts` and `all_entries`. */
async function readFigures(databaseUrl: string): Promise<Figures> {
  const ledger = await openLedger({ connectionString: databaseUrl }, 'bench');
  try {
    const runs = await runStatement(databaseUrl, `SELECT run_id FROM runs r WHERE ${isAdded}`);
    const counts = await readRunCounts(
      ledger.pool,
      runs.map(({ run_id }) => String(run_id)),
    );
    const sum = (of: (run: RunCounts) => number) =>
      String([...counts.values()].reduce((all, run) => all + of(run), 0));
    return {
      'recipients: delivered': sum(({ recipients }) => recipients.delivered),
      'recipients: undelivered': sum(({ recipients }) => recipients.undelivered),
      'requests: accepted': sum(({ requests }) => requests.accepted),
      'requests: rejected': sum(({ requests }) => requests.rejected),
      ...(await readBilled(databaseUrl, 'all_entries')),
    };
  } finally {
    await ledger.close();
  }
}

async function requireDone({ ended }: ReturnType<typeof startVolley>): Promise<void> {
  const { code, stderr } = await ended;
  if (code !== 0) throw new Error(`volley ended with ${code}: ${stderr}`);
}
