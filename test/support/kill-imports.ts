import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { expect } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { openTestLedger, type TestLedger } from './ledger.ts';
import { startVolley } from './volley.ts';
import { accountsYaml, makeWorkspace } from './workspace.ts';

/**
 * Kills imports at moments that are shares of one that nobody disturbs. Expects that each leaves no run or a whole one
 * and nothing else, and that an import after them gives what the first would have given.
 */
export async function expectKilledImportsWhole(rows: number, moments: readonly number[]): Promise<void> {
  const contacts = contactsCsv(rows);
  const sandbox = await startSandbox({ latency: 60_000 });
  await using workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'contacts.csv': contacts,
    'stop.csv': 'Mobile\n0400000003\n',
    'campaign.yaml': campaign,
  });
  const [disturbed, undisturbed] = [await openTestLedger(), await openTestLedger()];
  const startRun = ({ url }: TestLedger) =>
    startVolley(['run', 'campaign.yaml'], {
      cwd: workspace.folder,
      env: {
        DATABASE_URL: url,
        VOLLEY_ACCOUNTS: 'accounts.yaml',
        VOLLEY_SANDBOX_URL: sandbox.url,
        VOLLEY_SANDBOX_TOKEN: 'any',
      },
    });
  /** Plans a run and kills the process as soon as that is done. Milliseconds it took. */
  const planUndisturbed = async (ledger: TestLedger): Promise<number> => {
    const begun = performance.now();
    const started = startRun(ledger);
    await started.says('planned  run');
    const took = performance.now() - begun;
    started.process.kill('SIGKILL');
    await started.ended;
    return took;
  };

  try {
    const took = await planUndisturbed(undisturbed);
    for (const moment of moments) {
      const started = startRun(disturbed);
      await sleep(took * moment);
      started.process.kill('SIGKILL');
      await started.ended;
      await sessionsEnded(disturbed);
      for (const run of await runsIn(disturbed)) expect(run).toMatchObject(wholeRun(rows));
    }
    const before = new Set((await runsIn(disturbed)).map(({ run_id }) => run_id));
    await planUndisturbed(disturbed);
    const [second] = (await runsIn(disturbed)).filter(({ run_id }) => !before.has(run_id));
    const [first] = await runsIn(undisturbed);
    const content = await contentOf(disturbed, second?.run_id);
    expect(content).toEqual(await contentOf(undisturbed, first?.run_id));
    expect(content.sha256).toBe(createHash('sha256').update(contacts).digest('hex'));
  } finally {
    await Promise.all([disturbed.close(), undisturbed.close(), sandbox.close()]);
  }
}

const campaign = `campaign: night
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: AU, suppressions: [stop.csv] }
message: { Message: "Hi [[first_name]]", ChargeCode: "[[code]]" }
dispatch: { chunkSize: 100 }
`;

/** One in ten is invalid, one in ten a duplicate, one suppressed. */
function contactsCsv(rows: number): string {
  const lines = Array.from({ length: rows }, (_, row) => {
    const number = row % 10 === 9 ? row - 1 : row;
    const mobile = row % 10 === 5 ? 'n/a' : `04${String(number).padStart(8, '0')}`;
    return `${mobile},"Ann ${row}",C${row % 50}`;
  });
  return `mobile,first_name,code\n${lines.join('\n')}\n`;
}

function wholeRun(rows: number) {
  return {
    read: rows,
    invalid: rows / 10,
    duplicate: rows / 10,
    suppressed: 1,
    recipients: rows * 0.8 - 1,
    lines: rows * 0.8 - 1,
    rejected: rows * 0.2 + 1,
    envelopes: 40,
  };
}

/**
 * A session whose client is gone ends when it next looks, and its temporary tables with it; until then it may still be at
 * work. Whoever waits too long has found one that stays.
 */
async function sessionsEnded({ ledger }: TestLedger): Promise<void> {
  for (;;) {
    const { rows: left } = await ledger.pool.query(`
      SELECT pid::text AS what FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
      UNION ALL
      SELECT relname FROM pg_class WHERE relname LIKE 'staged%' AND relpersistence = 't'
    `);
    if (left.length === 0) return;
    await sleep(20);
  }
}

/** Every run with its parts counted; there is nothing of a run that is not in `runs`, by foreign keys. */
async function runsIn({ ledger }: TestLedger) {
  const { rows: runs } = await ledger.pool.query(`
    SELECT run_id, contacts_read AS read, contacts_invalid AS invalid, contacts_duplicate AS duplicate,
           contacts_suppressed AS suppressed,
           (SELECT sum(recipients)::integer FROM requests q WHERE q.run_id = r.run_id) AS recipients,
           (SELECT sum(cardinality(lines))::integer FROM chunks c WHERE c.run_id = r.run_id) AS lines,
           (SELECT count(*)::integer FROM rejected_contacts x WHERE x.run_id = r.run_id) AS rejected,
           (SELECT count(*)::integer FROM envelopes e WHERE e.run_id = r.run_id) AS envelopes
    FROM runs r
  `);
  return runs;
}

/** All of a run but its id, its key and its times. */
async function contentOf({ ledger }: TestLedger, run: string) {
  const select = async (sql: string) => (await ledger.pool.query(sql, [run])).rows;
  const pieces = await select('SELECT data FROM contact_file_pieces WHERE run_id = $1 ORDER BY file, piece');
  const hash = createHash('sha256');
  for (const { data } of pieces) hash.update(zstdDecompressSync(data));
  return {
    chunks: await select(
      'SELECT request, lines, addresses, original_addresses, parts, destinations FROM chunks WHERE run_id = $1 ORDER BY request',
    ),
    envelopes: await select('SELECT envelope, fields FROM envelopes WHERE run_id = $1 ORDER BY envelope'),
    requests: await select(
      'SELECT request, envelope, recipients FROM requests WHERE run_id = $1 ORDER BY request',
    ),
    rejected: await select(
      'SELECT line, column_name, reason, detail FROM rejected_contacts WHERE run_id = $1 ORDER BY line',
    ),
    files: await select('SELECT name, lines_before, sha256 FROM contact_files WHERE run_id = $1'),
    sha256: hash.digest('hex'),
  };
}
