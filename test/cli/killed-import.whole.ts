import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { planRun } from '../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../src/engine/plan/prepare-campaign.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { scaled } from '../support/examples.ts';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';
import { type ProcessOptions, type Started, startVolley } from '../support/volley.ts';
import { accountsYaml, makeWorkspace } from '../support/workspace.ts';

test('an import that is killed at any point leaves nothing before its commit, and everything after it, and a second import gives the same run', () =>
  expectAtomicAtEachStep(scaled(4_000, 200_000)));
/**
 * Kills an import at certain steps, where a lock stops it on any machine. Expects nothing in the ledger before
 * the commit, and a whole run once it has begun.
 */
async function expectAtomicAtEachStep(rows: number): Promise<void> {
  await using scene = await openScene(rows);
  const { killedLedger } = scene;
  const content = await contentOf(scene.referenceLedger, await scene.plan(scene.referenceLedger));
  expect(content.sha256).toBe(createHash('sha256').update(scene.contacts).digest('hex'));

  await killWhileReading(scene);
  expect(await tablesWithRows(killedLedger), 'killed while it was reading').toEqual([]);
  for (const table of steps) {
    await killAtTable(scene, table);
    expect(await tablesWithRows(killedLedger), `killed when it came to ${table}`).toEqual([]);
  }
  await killAtCommit(scene);
  const [committed = 'none', ...others] = await runsIn(killedLedger);
  expect(others).toEqual([]);
  expect(await contentOf(killedLedger, committed)).toEqual(content);

  const repeated = await scene.startRun(killedLedger).ended;
  expect([repeated.code, repeated.stderr]).toEqual([2, expect.stringContaining(`Run ${committed} `)]);
  const run = await scene.plan(killedLedger);
  expect(run).not.toBe(committed);
  expect(await contentOf(killedLedger, run)).toEqual(content);
}

type Scene = AsyncDisposable & {
  readonly contacts: string;
  readonly killedLedger: TestLedger;
  readonly referenceLedger: TestLedger;
  readonly startRun: (ledger: TestLedger, words?: readonly string[], others?: ProcessOptions) => Started;
  readonly plan: (ledger: TestLedger) => Promise<string>;
};

/** Identifies sessions of the imports. */
const sessionName = 'import to be killed';

async function openScene(rows: number): Promise<Scene> {
  await using opened = new AsyncDisposableStack();
  const contacts = contactsCsv(rows);
  const sandbox = opened.adopt(await startSandbox({ latency: 60_000 }), (started) => started.close());
  const { folder } = opened.use(
    await makeWorkspace({
      'accounts.yaml': accountsYaml,
      'contacts.csv': contacts,
      'stop.csv': 'Mobile\n0400000003\n',
      'terms.txt': 'The terms.',
      'campaign.yaml': campaign,
    }),
  );
  const openLedger = async () => opened.adopt(await openTestLedger(), (ledger) => ledger.close());
  const killedLedger = await openLedger();
  const referenceLedger = await openLedger();
  const env = {
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: sandbox.url,
    VOLLEY_SANDBOX_TOKEN: 'any',
  };
  const startRun: Scene['startRun'] = ({ url }, words = [], others = {}) => {
    const address = new URL(url);
    address.searchParams.set('application_name', sessionName);
    return startVolley(['run', 'campaign.yaml', ...words], {
      cwd: folder,
      env: { ...env, DATABASE_URL: address.href },
      ...others,
    });
  };
  const planHere: Scene['plan'] = async ({ context }) => {
    const settings = { environment: env, workingFolder: folder };
    const prepared = await prepareCampaign('campaign.yaml', settings, { keeps: 'files' });
    return planRun(context, prepared, { again: true });
  };
  const whole = opened.move();
  return {
    contacts,
    killedLedger,
    referenceLedger,
    startRun,
    plan: planHere,
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}

const campaign = `campaign: night
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: AU, suppressions: [stop.csv] }
message: { Message: "Hi [[first_name]], see [[File1]]", ChargeCode: "[[code]]" }
attachments: .
files: [{ file: terms.txt }]
dispatch: { chunkSize: 100 }
`;

/** One row in ten is invalid, one in ten a duplicate, and one suppressed. */
function contactsCsv(rows: number): string {
  const lines = Array.from({ length: rows }, (_, row) => {
    const number = row % 10 === 9 ? row - 1 : row;
    const mobile = row % 10 === 5 ? 'n/a' : `04${String(number).padStart(8, '0')}`;
    return `${mobile},"Ann ${row}",C${row % 50}`;
  });
  return `mobile,first_name,code\n${lines.join('\n')}\n`;
}

async function kill(started: Started): Promise<void> {
  started.process.kill('SIGKILL');
  await started.ended;
}

/** In the order of `expandRun`. */
const plannedTables = [
  'runs',
  'contact_files',
  'contact_file_pieces',
  'rejected_contacts',
  'envelopes',
  'slices',
  'contents',
  'run_files',
] as const;
type PlannedTable = (typeof plannedTables)[number];

/** At their first row an import is killed. */
const steps = scaled<readonly PlannedTable[]>(['contact_file_pieces', 'contents'], plannedTables);

/**
 * The import waits for more contacts from an open pipe. Imports copy in batches, so half of the contacts must
 * exceed a batch.
 */
async function killWhileReading({ contacts, killedLedger, startRun }: Scene): Promise<void> {
  const input = contacts.slice(0, contacts.length / 2);
  const started = startRun(killedLedger, ['--contacts', '-'], { input, keepInputOpen: true });
  await waitUntilReached(
    started,
    killedLedger,
    `SELECT FROM pg_stat_progress_copy JOIN pg_stat_activity USING (pid)
     WHERE application_name = $1 AND pg_stat_progress_copy.datname = current_database() AND tuples_processed > 0`,
  );
  await kill(started);
  await waitUntilSessionsEnd(killedLedger);
  await expectNoLocks(killedLedger);
}

async function killAtTable(scene: Scene, table: PlannedTable): Promise<void> {
  await killAtLock(scene, `BEGIN; LOCK TABLE ${table} IN SHARE MODE`, 'ROLLBACK', {
    sql: "locktype = 'relation' AND relation = $2::regclass",
    value: table,
  });
}

/** A deferred trigger runs at the very end of the transaction. */
async function killAtCommit(scene: Scene): Promise<void> {
  await scene.killedLedger.ledger.pool.query(`
    CREATE FUNCTION wait_at_commit() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(${commitLock}); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER wait_at_commit AFTER INSERT ON runs
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait_at_commit();
  `);
  await killAtLock(
    scene,
    `SELECT pg_advisory_lock(${commitLock})`,
    `SELECT pg_advisory_unlock(${commitLock})`,
    { sql: "locktype = 'advisory' AND objid = $2::oid AND query = 'COMMIT'", value: String(commitLock) },
  );
}

/** Any number that Volley does not lock. */
const commitLock = 20_261_121;

async function killAtLock(
  { killedLedger, startRun }: Scene,
  lockStatement: string,
  unlockStatement: string,
  lock: { readonly sql: string; readonly value: string },
): Promise<void> {
  const holder = await killedLedger.ledger.pool.connect();
  try {
    await holder.query(lockStatement);
    const started = startRun(killedLedger);
    const waits = `SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
                   WHERE application_name = $1 AND NOT granted AND ${lock.sql}`;
    await waitUntilReached(started, killedLedger, waits, lock.value);
    await kill(started);
    expect(await tablesWithRows(killedLedger)).toEqual([]);
    // The session has not noticed the kill, and continues its statement.
    await holder.query(unlockStatement);
    await waitUntilSessionsEnd(killedLedger);
    await expectNoLocks(killedLedger);
  } finally {
    holder.release(true);
  }
}

/** @param sql returns a row once the session named `$1` has reached the step */
async function waitUntilReached(
  started: Started,
  { ledger }: TestLedger,
  sql: string,
  value?: string,
): Promise<void> {
  const values = value === undefined ? [sessionName] : [sessionName, value];
  await waitUntil(async () => {
    if (started.process.exitCode !== null)
      throw new Error(`ended before it came there: ${started.stderrSoFar()}`);
    return (await ledger.pool.query(sql, values)).rowCount !== 0;
  }, sql);
}

async function waitUntil(happens: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await happens())) {
    if (performance.now() > deadline) throw new Error(`has not happened within a minute: ${what}`);
    await sleep(10);
  }
}

/** A session notices a lost client late; until then it may still work. */
async function waitUntilSessionsEnd({ ledger }: TestLedger): Promise<void> {
  const sql = `SELECT FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()`;
  await waitUntil(async () => (await ledger.pool.query(sql, [sessionName])).rowCount === 0, 'sessions end');
}

/** Expects no temporary tables and no locks, except those of this query and of autovacuum. */
async function expectNoLocks({ ledger }: TestLedger): Promise<void> {
  const sql = `
    SELECT FROM pg_class WHERE relpersistence = 't'
    UNION ALL
    SELECT FROM pg_locks
    WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND pid IS DISTINCT FROM pg_backend_pid()
    UNION ALL
    SELECT FROM pg_prepared_xacts WHERE database = current_database()
  `;
  await waitUntil(
    async () => (await ledger.pool.query(sql)).rowCount === 0,
    'nothing is held: no temporary table, no lock, no prepared transaction',
  );
}

async function tablesWithRows({ ledger }: TestLedger): Promise<readonly string[]> {
  const { rows: tables } = await ledger.pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'run_id'`,
  );
  expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining([...plannedTables]));
  const filled = tables.map(({ name }) => `SELECT '${name}' AS name WHERE EXISTS (SELECT FROM ${name})`);
  const { rows } = await ledger.pool.query<{ name: string }>(filled.join(' UNION ALL '));
  return rows.map(({ name }) => name);
}

/** In the order of planning. */
async function runsIn({ ledger }: TestLedger): Promise<readonly string[]> {
  const { rows } = await ledger.pool.query<{ run: string }>(
    'SELECT run_id AS run FROM runs ORDER BY created_at',
  );
  return rows.map(({ run }) => run);
}

async function contentOf({ ledger }: TestLedger, run: string) {
  const select = async (sql: string) => (await ledger.pool.query(sql, [run])).rows;
  const pieces = await select('SELECT data FROM contact_file_pieces WHERE run_id = $1 ORDER BY file, piece');
  const hash = createHash('sha256');
  for (const { data } of pieces) hash.update(zstdDecompressSync(data));
  return {
    run: await select(
      `SELECT campaign, account, channel, definition, contacts_read, contacts_invalid, contacts_duplicate,
              contacts_suppressed
       FROM runs WHERE run_id = $1`,
    ),
    contents: await select(
      `SELECT first_request, envelopes, sizes, request_offsets, positions, lines, addresses, original_addresses, parts,
              destinations
       FROM contents WHERE run_id = $1 ORDER BY first_request`,
    ),
    envelopes: await select(
      `SELECT envelope, fields, keypads, files, audio, sub_account, department, charge_code
       FROM envelopes WHERE run_id = $1 ORDER BY envelope`,
    ),
    requests: await select(
      'SELECT request, envelope, recipients FROM request_states WHERE run_id = $1 ORDER BY request',
    ),
    rejected: await select(
      'SELECT line, column_name, reason, kind, message, number FROM rejected_contacts WHERE run_id = $1 ORDER BY line',
    ),
    contactFiles: await select(
      'SELECT file, name, lines_before, encoding, delimiter, skip_lines, sha256 FROM contact_files WHERE run_id = $1',
    ),
    files: await select('SELECT path, data FROM run_files WHERE run_id = $1 ORDER BY path'),
    sha256: hash.digest('hex'),
  };
}
