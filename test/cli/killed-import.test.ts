import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';
import { startVolley } from '../support/volley.ts';
import { accountsYaml, makeWorkspace, type Workspace } from '../support/workspace.ts';

let sandbox: Sandbox;
let workspace: Workspace;
let disturbed: TestLedger;
let undisturbed: TestLedger;
beforeAll(async () => {
  sandbox = await startSandbox({ latency: 60_000 });
  workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'contacts.csv': contacts,
    'stop.csv': 'Mobile\n0400000003\n',
    'campaign.yaml': `campaign: night
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: AU, suppressions: [stop.csv] }
message: { Message: "Hi [[first_name]]", ChargeCode: "[[code]]" }
dispatch: { chunkSize: 100 }
`,
  });
  disturbed = await openTestLedger();
  undisturbed = await openTestLedger();
});
afterAll(async () => {
  await Promise.all([disturbed.close(), undisturbed.close()]);
  await sandbox.close();
  await workspace[Symbol.asyncDispose]();
});

const rows = 40_000;
/** One in ten is invalid, one in ten a duplicate, one suppressed. */
const contacts = `mobile,first_name,code\n${Array.from({ length: rows }, (_, row) => {
  const number = row % 10 === 9 ? row - 1 : row;
  const mobile = row % 10 === 5 ? 'n/a' : `04${String(number).padStart(8, '0')}`;
  return `${mobile},"Ann ${row}",C${row % 50}`;
}).join('\n')}\n`;

/** How far from the start, as shares of an import that nobody disturbs. */
const moments = [0.1, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

function startRun({ url }: TestLedger) {
  return startVolley(['run', 'campaign.yaml'], {
    cwd: workspace.folder,
    env: {
      DATABASE_URL: url,
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      VOLLEY_SANDBOX_URL: sandbox.url,
      VOLLEY_SANDBOX_TOKEN: 'any',
    },
  });
}

/** Plans a run and kills the process as soon as that is done. Milliseconds it took. */
async function planUndisturbed(ledger: TestLedger): Promise<number> {
  const begun = performance.now();
  const started = startRun(ledger);
  await started.says('planned  run');
  const took = performance.now() - begun;
  started.process.kill('SIGKILL');
  await started.ended;
  return took;
}

/** A session whose client is gone ends when it next looks; until then it may still be at work. */
async function sessionsEnded({ ledger }: TestLedger): Promise<void> {
  for (;;) {
    const { rows: busy } = await ledger.pool.query(
      `SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> 'knex'
         AND (state <> 'idle' OR pid IN (SELECT pid FROM pg_locks WHERE locktype = 'relation' AND mode LIKE '%Exclusive%'))`,
    );
    if (busy.length === 0) return;
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

const whole = {
  read: rows,
  invalid: rows / 10,
  duplicate: rows / 10,
  suppressed: 1,
  recipients: rows * 0.8 - 1,
  lines: rows * 0.8 - 1,
  rejected: rows * 0.2 + 1,
  envelopes: 40,
};

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

test('an import that is killed leaves no run or a whole one, and a second try gives what the first would have', {
  timeout: 120_000,
}, async () => {
  const took = await planUndisturbed(undisturbed);
  for (const moment of moments) {
    const started = startRun(disturbed);
    await sleep(took * moment);
    started.process.kill('SIGKILL');
    await started.ended;
    await sessionsEnded(disturbed);
    for (const run of await runsIn(disturbed)) expect(run).toMatchObject(whole);
    const { rows: left } = await disturbed.ledger.pool.query(
      "SELECT relname FROM pg_class WHERE relname LIKE 'staged%' AND relpersistence = 't'",
    );
    expect(left).toEqual([]);
  }
  const before = new Set((await runsIn(disturbed)).map(({ run_id }) => run_id));
  await planUndisturbed(disturbed);
  const [second] = (await runsIn(disturbed)).filter(({ run_id }) => !before.has(run_id));
  const [first] = await runsIn(undisturbed);
  const content = await contentOf(disturbed, second?.run_id);
  expect(content).toEqual(await contentOf(undisturbed, first?.run_id));
  expect(content.sha256).toBe(createHash('sha256').update(contacts).digest('hex'));
});
