import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { expect } from 'vitest';
import { createKeptContactFiles } from '../../src/engine/plan/kept-contact-files.ts';
import { planRun } from '../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../src/engine/plan/prepare-campaign.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { ignoredProgress } from './ignored-progress.ts';
import { openTestLedger, type TestLedger } from './ledger.ts';
import { type ProcessOptions, type Started, startVolley } from './volley.ts';
import { accountsYaml, makeWorkspace } from './workspace.ts';

/**
 * Kills imports at moments that are shares of one that nobody disturbs. Expects that each leaves no run or a whole one
 * and nothing else, and that an import after them gives what the first would have given.
 *
 * @returns how many imports were killed at which statement; `no statement` is before the first, between two, and after
 * the last
 */
export async function expectKilledImportsAtomic(
  rows: number,
  moments: readonly number[],
): Promise<ReadonlyMap<string, number>> {
  await using scene = await openScene(rows);
  const { killedLedger } = scene;
  const { took: referenceDuration, content } = await planReference(scene, planByProcess);
  const killedAt = new Map<string, number>();
  const seen = new Set<string>();
  for (const moment of moments) {
    const started = scene.startRun(killedLedger);
    await sleep(referenceDuration * moment);
    const statement = await currentStatement(killedLedger);
    await kill(started);
    killedAt.set(statement, (killedAt.get(statement) ?? 0) + 1);
    await waitUntilSessionsEnd(killedLedger);
    await expectNoLocks(killedLedger);
    for (const run of await runsIn(killedLedger)) {
      if (seen.has(run)) continue;
      seen.add(run);
      expect(await countsOf(killedLedger, run)).toEqual(wholeRun(rows));
      expect(await contentOf(killedLedger, run)).toEqual(content);
    }
    if (seen.size === 0) expect(await tablesWithRows(killedLedger)).toEqual([]);
  }
  const run = await scene.plan(killedLedger);
  expect(await contentOf(killedLedger, run)).toEqual(content);
  return killedAt;
}

/**
 * Kills an import at steps on its way, whatever the speed of the machine: each waits there for something that is held back
 * until it is dead. Expects nothing of it in the ledger before the commit, a whole run when the commit has begun, and an
 * import after that to give the same.
 *
 * @param tables whose first row is such a step, besides the reading and the commit
 */
export async function expectAtomicAtEachStep(
  rows: number,
  tables: readonly PlannedTable[] = plannedTables,
): Promise<void> {
  await using scene = await openScene(rows);
  const { killedLedger } = scene;
  const { content } = await planReference(scene);

  await killWhileReading(scene);
  expect(await tablesWithRows(killedLedger), 'killed while it was reading').toEqual([]);
  for (const table of tables) {
    await killAtTable(scene, table);
    expect(await tablesWithRows(killedLedger), `killed when it came to ${table}`).toEqual([]);
  }
  await killAtCommit(scene);
  const [committed = 'none', ...others] = await runsIn(killedLedger);
  expect(others).toEqual([]);
  expect(await countsOf(killedLedger, committed)).toEqual(wholeRun(rows));
  expect(await contentOf(killedLedger, committed)).toEqual(content);

  const repeated = await scene.startRun(killedLedger).ended;
  expect([repeated.code, repeated.stderr]).toEqual([2, expect.stringContaining(`Run ${committed} `)]);
  const run = await scene.plan(killedLedger);
  expect(run).not.toBe(committed);
  expect(await contentOf(killedLedger, run)).toEqual(content);
}

type Scene = AsyncDisposable & {
  readonly contacts: string;
  /** The ledger of the imports that are killed, and of one that is not. */
  readonly killedLedger: TestLedger;
  readonly referenceLedger: TestLedger;
  readonly startRun: (ledger: TestLedger, words?: readonly string[], others?: ProcessOptions) => Started;
  /** Plans another run in this process; its id. */
  readonly plan: (ledger: TestLedger) => Promise<string>;
};

/** Tells the sessions of the imports from those of the test. */
const sessionName = 'import to be killed';

async function openScene(rows: number): Promise<Scene> {
  await using opened = new AsyncDisposableStack();
  const contacts = contactsCsv(rows);
  // Slow to answer: of what is sent after an import, nothing is done before the kill.
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
    const kept = createKeptContactFiles();
    const prepared = await prepareCampaign('campaign.yaml', settings, { kept });
    return planRun(context, prepared, kept, ignoredProgress, { again: true });
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
files: [{ file: terms.txt }]
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
    destinations: rows * 0.8 - 1,
    rejected: rows * 0.2 + 1,
    // Of 50 ChargeCodes, five are of invalid contacts alone and five of duplicates.
    envelopes: 40,
    contact_files: 1,
    run_files: 1,
  };
}

/** An import that nobody disturbs: how long it takes, in milliseconds, and what it gives. */
async function planReference(scene: Scene, plan: typeof planByProcess = (_, ledger) => scene.plan(ledger)) {
  const startedAt = performance.now();
  const run = await plan(scene, scene.referenceLedger);
  const duration = performance.now() - startedAt;
  const content = await contentOf(scene.referenceLedger, run);
  expect(content.sha256).toBe(createHash('sha256').update(scene.contacts).digest('hex'));
  return { took: duration, content };
}

/** Plans a run, and kills the process that would go on to send it. The run's id. */
async function planByProcess({ startRun }: Scene, ledger: TestLedger): Promise<string> {
  const started = startRun(ledger, ['--again']);
  await started.waitForText('planned  run');
  await kill(started);
  await waitUntilSessionsEnd(ledger);
  return /planned {2}run (\S+):/.exec(started.stderrSoFar())?.[1] ?? expect.fail(started.stderrSoFar());
}

async function kill(started: Started): Promise<void> {
  started.process.kill('SIGKILL');
  await started.ended;
}

/** In the order in which `expandRun` writes them. */
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

/**
 * Half of the contacts come through a pipe that stays open; the import has copied some, and waits for more. It copies in
 * pieces, so half of the contacts must be more than one.
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

/** Nobody may write to the table until the import is dead. */
async function killAtTable(scene: Scene, table: PlannedTable): Promise<void> {
  await killAtLock(scene, `BEGIN; LOCK TABLE ${table} IN SHARE MODE`, 'ROLLBACK', {
    sql: "locktype = 'relation' AND relation = $2::regclass",
    value: table,
  });
}

/** The last thing of a transaction is what it has put off until the commit. */
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

/** Any number that Volley itself does not lock. */
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
    // The session does not know yet that nobody hears it, and goes on with the statement it is in.
    await holder.query(unlockStatement);
    await waitUntilSessionsEnd(killedLedger);
    await expectNoLocks(killedLedger);
  } finally {
    holder.release(true);
  }
}

/** @param sql of parameter `$1`, the name of the import's sessions, that has a row once the import is there */
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

/** Looks again and again, and fails after a minute. */
async function waitUntil(happens: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await happens())) {
    if (performance.now() > deadline) throw new Error(`has not happened within a minute: ${what}`);
    await sleep(10);
  }
}

/** The beginning of the statement that the import has given to Postgres. */
async function currentStatement({ ledger }: TestLedger): Promise<string> {
  const { rows } = await ledger.pool.query<{ query: string }>(
    `SELECT query FROM pg_stat_activity
     WHERE application_name = $1 AND datname = current_database() AND state = 'active'`,
    [sessionName],
  );
  const words = rows[0]?.query.trim().split(/[^\w]+/) ?? [];
  return words.slice(0, 3).join(' ') || 'no statement';
}

/** A session whose client is gone ends when it next looks; until then it may still be at work. */
async function waitUntilSessionsEnd({ ledger }: TestLedger): Promise<void> {
  const sql = `SELECT FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()`;
  await waitUntil(async () => (await ledger.pool.query(sql, [sessionName])).rowCount === 0, 'sessions end');
}

/** Neither temporary tables nor locks, but for those of the question itself, and of an autovacuum, which ends by itself. */
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

/** Every table that has something of a run. */
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

/** In the order in which they were planned. */
async function runsIn({ ledger }: TestLedger): Promise<readonly string[]> {
  const { rows } = await ledger.pool.query<{ run: string }>(
    'SELECT run_id AS run FROM runs ORDER BY created_at',
  );
  return rows.map(({ run }) => run);
}

/** A run's parts, counted. There is nothing of a run that is not in `runs`, by foreign keys. */
async function countsOf({ ledger }: TestLedger, run: string): Promise<unknown> {
  const { rows } = await ledger.pool.query(
    `
    SELECT contacts_read AS read, contacts_invalid AS invalid, contacts_duplicate AS duplicate,
           contacts_suppressed AS suppressed,
           (SELECT sum(recipients)::integer FROM request_states q WHERE q.run_id = r.run_id) AS recipients,
           (SELECT sum(cardinality(lines))::integer FROM contents c WHERE c.run_id = r.run_id) AS lines,
           (SELECT sum(json_array_length(destinations::json))::integer FROM contents c WHERE c.run_id = r.run_id)
             AS destinations,
           (SELECT count(*)::integer FROM rejected_contacts x WHERE x.run_id = r.run_id) AS rejected,
           (SELECT count(*)::integer FROM envelopes e WHERE e.run_id = r.run_id) AS envelopes,
           (SELECT count(*)::integer FROM contact_files f WHERE f.run_id = r.run_id) AS contact_files,
           (SELECT count(*)::integer FROM run_files f WHERE f.run_id = r.run_id) AS run_files
    FROM runs r
    WHERE run_id = $1
    `,
    [run],
  );
  return rows[0];
}

/** All of a run but its id, its key, its times, and what has become of it since. */
async function contentOf({ ledger }: TestLedger, run: string) {
  const select = async (sql: string) => (await ledger.pool.query(sql, [run])).rows;
  const pieces = await select('SELECT data FROM contact_file_pieces WHERE run_id = $1 ORDER BY file, piece');
  const hash = createHash('sha256');
  for (const { data } of pieces) hash.update(zstdDecompressSync(data));
  return {
    run: await select('SELECT campaign, account, channel, definition FROM runs WHERE run_id = $1'),
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
