import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createToken } from '../../src/engine/access/tokens.ts';
import { hasCode } from '../../src/platform/file-error.ts';
import { signIn, type Visitor } from '../support/dashboard-scene.ts';
import { type DispatchScene, openDispatchScene } from '../support/dispatch-scene.ts';
import { openLedgerIn } from '../support/ledger.ts';
import { makeReplicatedOrigin, type ReplicatedPostgres } from '../support/replicated-postgres.ts';
import { runStatement } from '../support/statement.ts';
import { type Ended, startInProcess, volleyInProcess } from '../support/volley.ts';

/** A primary and its standby, with a run of 40 requests, of which some were rejected. */
const opened = new AsyncDisposableStack();
let postgres: ReplicatedPostgres;
let scene: DispatchScene;
let run: string;
let recipient: string;
beforeAll(async () => {
  const origin = opened.use(await makeReplicatedOrigin());
  postgres = opened.use(await origin.startPair('asynchronous'));
  const database = { connection: { connectionString: postgres.url }, url: postgres.url };
  const ledger = openLedgerIn({ ...database, drop: async () => undefined });
  scene = opened.use(
    await openDispatchScene({ requests: 40, concurrency: 4, peer: { rejects: 0.2 }, ledger }),
  );
  const { code, stderr } = await scene.runHere(['run', 'campaign.yaml']);
  expect(code, stderr).toBe(3);
  const { rows } = await scene.ledger.ledger.pool.query<{ run_id: string; address: string }>(
    'SELECT run_id, address FROM runs JOIN recipient_states USING (run_id) LIMIT 1',
  );
  run = rows[0]?.run_id ?? '';
  recipient = rows[0]?.address ?? '';
});
afterAll(() => opened.disposeAsync());

beforeEach(() => onStandby('SELECT pg_wal_replay_resume()'));

const onPrimary = (sql: string) => runStatement(postgres.url, sql);

/** A statement of the test can be cancelled too. */
async function onStandby(sql: string): Promise<Record<string, unknown>[]> {
  try {
    return await runStatement(postgres.standbyUrl, sql);
  } catch (error) {
    if (!hasCode(error, '40001')) throw error;
    return onStandby(sql);
  }
}

type Environment = Readonly<Record<string, string>>;

const replica = (how = 'prefer'): Environment => ({
  DATABASE_READ_URL: postgres.standbyUrl,
  VOLLEY_READ_REPLICA: how,
});

function start(words: readonly string[], env: Environment = replica()) {
  const { environment, workspace } = scene;
  const place = { cwd: workspace.folder, env: { ...environment, LOG_LEVEL: 'silent', ...env } };
  return startInProcess(words, { ...place, now: () => new Date('2026-11-27T21:04:05Z') });
}
const command = (words: readonly string[], env?: Environment): Promise<Ended> => start(words, env).ended;

/** The standby replays no more, and the primary has a change that the standby lacks. Then a second and more goes by. */
async function lag(): Promise<void> {
  await onPrimary(`UPDATE runs SET campaign = 'night' WHERE run_id = '${run}'`);
  await caughtUp();
  await onStandby('SELECT pg_wal_replay_pause()');
  while ((await onStandby(`SELECT pg_get_wal_replay_pause_state() AS state`))[0]?.['state'] !== 'paused')
    await sleep(20);
  await onPrimary(`UPDATE runs SET campaign = 'night later' WHERE run_id = '${run}'`);
  await sleep(1_100);
}

async function caughtUp(): Promise<void> {
  // Its commit writes what open transactions have in the WAL.
  await onPrimary(`SELECT pg_logical_emit_message(true, 'test', '')`);
  const [wal] = await onPrimary('SELECT pg_current_wal_insert_lsn()::text AS lsn');
  const sql = `SELECT pg_last_wal_replay_lsn() >= '${String(wal?.['lsn'])}' AS done`;
  while ((await onStandby(sql))[0]?.['done'] !== true) await sleep(20);
}

const reports = (): readonly (readonly string[])[] => [
  ['report', 'run', run, '--json'],
  ['report', 'campaigns', '--json'],
  ['report', 'contacts', run, '--format', 'json'],
  ['report', 'failures', run, '--json'],
  ['billing', 'report', '--by', 'ChargeCode', '--json'],
];

describe('a report of a standby', () => {
  test('equals that of the primary, and says that it is 0 seconds behind', async () => {
    for (const words of reports()) {
      const [fromPrimary, fromReplica] = [await command(words, {}), await command(words)];
      expect(fromReplica, fromReplica.stderr).toMatchObject({ code: 0 });
      const { read, asOf, ...figures } = JSON.parse(fromReplica.stdout);
      const { read: none, asOf: at, ...expected } = JSON.parse(fromPrimary.stdout);
      expect(none, words.join(' ')).toBeUndefined();
      expect(read, words.join(' ')).toEqual({ from: 'replica', secondsBehind: 0 });
      expect(asOf).toBe('2026-11-27T21:04:05.000Z');
      expect(figures).toEqual(expected);
      expect(fromReplica.stderr).toContain('As of 2026-11-27 21:04:05 UTC, 0 s behind.');
    }
  });

  test('says so in tables, CSV, pages and workbooks too', async () => {
    const words = ['billing', 'report', '--format'];
    const behind = '2026-11-27 21:04:05 UTC, 0 s behind';
    expect((await command([...words, 'table'])).stdout).toContain(`\nas of ${behind}\n`);
    expect((await command([...words, 'html'])).stdout).toContain(`<footer>As of ${behind}. Times`);
    expect((await command([...words, 'csv'])).stderr).toBe(`As of ${behind}.\n`);
    expect((await command(['report', 'run', run])).stdout).toContain(`\nas of ${behind}\n`);
    const { stdout, stderr } = await command(['report', 'recipient', recipient]);
    expect(stdout).toContain(recipient);
    expect(stderr).toContain(`As of ${behind}.`);
  });

  test('is that of an idle primary too, however long ago its last commit was', async () => {
    await caughtUp();
    await sleep(2_200);
    const { stdout } = await command(['billing', 'report', '--json'], replica('require 1s'));
    expect(JSON.parse(stdout).read).toEqual({ from: 'replica', secondsBehind: 0 });
  });
});

test('a required standby that has all changes says itself that there is no such run', async () => {
  const { code, stderr } = await command(['report', 'run', '260101-zzzzz'], replica('require'));
  expect([code, stderr]).toEqual([2, expect.not.stringContaining('replica')]);
});

describe('a standby that lags', () => {
  test('is read, with its age and without what it lacks', async () => {
    await lag();
    const { stdout, stderr } = await command(['report', 'failures', run]);
    expect(stdout).toMatch(/\nas of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, [2-9] s behind\n/);
    const json = JSON.parse((await command(['report', 'campaigns', '--json'])).stdout);
    expect(json.read.secondsBehind, stderr).toBeGreaterThan(1);
    expect(json.rows).toMatchObject([{ campaign: 'night' }]);
  });

  test('is named and passed by when it is too old', async () => {
    await lag();
    const { code, stdout } = await command(['report', 'campaigns'], replica('prefer 1s'));
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /UTC, from the primary: the replica is \d s behind, and 1 s are allowed\n[\s\S]*night later/,
    );
  });

  test('is the reason of a refusal when it is required, and nothing is printed', async () => {
    await lag();
    const { code, stdout, stderr } = await command(['report', 'campaigns'], replica('require 1s'));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Refused: the replica is \d s behind, and 1 s are allowed\. VOLLEY_READ_REPLICA/);
  });

  test('does not say that there is no such recipient or run', async () => {
    await onStandby('SELECT pg_wal_replay_pause()');
    await onPrimary(`UPDATE contents SET addresses[1] = '+61499999999' WHERE run_id = '${run}'`);
    const { code, stdout, stderr } = await command(['report', 'recipient', '+61499999999']);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('+61499999999');
    expect(stderr).toContain('from the primary: the replica does not have it yet.');
    const required = await command(['report', 'recipient', '+61499999999'], replica('require'));
    expect({ code: required.code, stdout: required.stdout }).toEqual({ code: 2, stdout: '' });
    expect(required.stderr).toContain('Refused: the replica does not have it yet.');
  });
});

/** Holds the report at a table that its first statements do not read, until `release`. */
async function lockOnPrimary(table: string) {
  const client = new Client(postgres.url);
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  await caughtUp();
  return {
    release: async (): Promise<void> => {
      await client.query('ROLLBACK');
      await client.end();
    },
  };
}

/** Resolves when a query of a report waits at the standby. */
async function waitsOnStandby(): Promise<void> {
  const sql = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query NOT LIKE '%pg_stat_activity%'`;
  while ((await onStandby(sql)).length === 0) await sleep(20);
}

describe('a report that has begun', () => {
  const reading = ['report', 'run', '--json'] as const;

  test('is read from the primary when the standby cancels its query, and says so', async () => {
    const held = await lockOnPrimary('rejected_contacts');
    const report = start([...reading, run]);
    await waitsOnStandby();
    // The report has read this table, so its lock holds up the replay.
    const conflicting = await lockOnPrimary('run_states');
    await conflicting.release();
    await held.release();
    const { code, stdout, stderr } = await report.ended;
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      summary: { run },
      read: { from: 'primary', because: 'the replica cancelled a query, to replay changes of the primary' },
    });
  });

  test('is read from the primary when the standby is killed, and refused when the standby is required', async () => {
    for (const how of ['prefer', 'require']) {
      const held = await lockOnPrimary('rejected_contacts');
      const report = start([...reading, run], replica(how));
      await waitsOnStandby();
      await postgres.killStandby();
      await held.release();
      const { code, stdout, stderr } = await report.ended;
      await postgres.startStandby();
      if (how === 'require') {
        expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
        expect(stderr).toContain('Refused: the replica does not answer');
      } else
        expect(JSON.parse(stdout).read).toMatchObject({
          from: 'primary',
          because: expect.stringContaining('the replica does not answer'),
        });
    }
  });
});

describe('a replica that is none', () => {
  const because = async (url: string): Promise<string> => {
    const { code, stdout, stderr } = await command(['billing', 'report', '--json'], {
      DATABASE_READ_URL: url,
    });
    expect(code, stderr).toBe(0);
    expect(`${stdout}${stderr}`).not.toContain('a-secret');
    return JSON.parse(stdout).read.because;
  };

  test('is named: away, no standby, or of another ledger', async () => {
    expect(await because('postgres://volley:a-secret@127.0.0.1:9/ledger')).toBe(
      'the replica does not answer (ECONNREFUSED)',
    );
    expect(await because(postgres.url)).toBe(
      'the replica is no standby, or not any more: it takes changes of its own',
    );
    expect(await because(postgres.standbyUrl.replace(/ledger$/, 'postgres'))).toBe(
      'the replica is of another ledger',
    );
    expect(await because(postgres.standbyUrl.replace(/ledger$/, 'none'))).toBe(
      'the replica does not answer (3D000)',
    );
  });

  test('stops nothing that decides about sending, also when it is required', async () => {
    const away = {
      DATABASE_READ_URL: 'postgres://volley:a-secret@127.0.0.1:9/ledger',
      VOLLEY_READ_REPLICA: 'require',
    };
    const decisions = [
      ['plan', 'campaign.yaml'],
      ['run', 'campaign.yaml', '--again'],
      ['resume', '--all'],
      ['status', 'latest'],
      ['runs'],
      ['suppress', 'list'],
      ['billing', 'list'],
      ['report', 'recipient', recipient, '--all'],
      ['db', 'status'],
    ];
    for (const words of decisions) {
      const { code, stderr } = await command(words, away);
      expect([0, 3], `${words.join(' ')}: ${stderr}`).toContain(code);
      expect(stderr).not.toMatch(/replica|a-secret/);
    }
  });

  test('volley doctor names it, and how old a standby is', async () => {
    const found = async (env: Environment) => {
      const { stdout } = await command(['doctor', '--json'], env);
      return JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'replica');
    };
    expect(await found({})).toBeUndefined();
    expect(await found(replica())).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(
        /^Postgres at 127\.0\.0\.1:\d+\/ledger is 0 s behind the primary; beyond 60 s, reports read the primary\.$/,
      ),
    });
    expect(await found({ VOLLEY_READ_REPLICA: 'require' })).toMatchObject({
      state: 'warning',
      found: 'VOLLEY_READ_REPLICA is set and DATABASE_READ_URL is not: reports read the primary.',
    });
    await lag();
    expect(await found(replica('require 1s'))).toMatchObject({
      state: 'problem',
      found: expect.stringMatching(/is \d s behind, and 1 s are allowed, so reports are refused\.$/),
    });
    expect(await found({ DATABASE_READ_URL: postgres.url })).toMatchObject({
      state: 'warning',
      found: expect.stringContaining('no standby, or not any more'),
      nextStep: expect.stringContaining('DATABASE_READ_URL'),
    });
  });

  test('a setting that cannot be read is refused before anything is done', async () => {
    const wrong = { ...replica('always'), DATABASE_READ_URL: postgres.standbyUrl };
    expect(await command(['runs'], wrong)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('VOLLEY_READ_REPLICA: Expected "prefer" or "require"'),
    });
    expect(await command(['runs'], { DATABASE_READ_URL: 'a-secret' })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^DATABASE_READ_URL: is not the address of a Postgres database(?!.*a-secret)/,
      ),
    });
  });
});

describe('volley serve', () => {
  const from = async (env: Environment) => {
    const stack = new AsyncDisposableStack();
    const serve = start(['serve', '--port', '0', '--api-port', '0', '--no-worker'], {
      VOLLEY_WEBHOOK_TOKEN: 'a-long-secret-webhook-token',
      ...env,
    });
    stack.defer(async () => {
      serve.stop();
      await serve.ended;
    });
    await Promise.race([serve.waitForText('Dashboard: '), serve.ended]);
    const url = /^Dashboard: (\S+)\/$/m.exec(serve.stderrSoFar())?.[1] ?? expect.fail(serve.stderrSoFar());
    const name = `reader ${Math.random()}`;
    const asked = { name, scope: 'read', owner: 'ann', accounts: null, expiresAt: null } as const;
    const token = await createToken(scene.ledger.context, asked);
    const call = (path: string) =>
      fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
    return {
      call,
      visitor: (): Promise<Visitor> => signIn(url, token),
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  };

  test('its API and its pages read the standby, and say how old it is', async () => {
    await using served = await from(replica());
    const answer = await served.call('/reports/billing?format=csv');
    expect(answer.headers.get('volley-as-of')).toMatch(/ UTC, 0 s behind$/);
    const fromPrimary = await command(['billing', 'report', '--by', 'SubAccount', '--format', 'csv'], {});
    expect((await (await served.call('/reports/billing?by=SubAccount&format=csv')).text()).trim()).toBe(
      fromPrimary.stdout.trim(),
    );
    const whole = await served.call(`/runs/${run}/report?format=json`);
    expect(await whole.json()).toMatchObject({
      summary: { run },
      read: { from: 'replica', secondsBehind: 0 },
    });
    const ann = await served.visitor();
    for (const path of [
      '/billing?from=&to=',
      `/billing/requests?from=&to=&run=${run}`,
      `/recipients?q=${encodeURIComponent(recipient)}`,
    ])
      expect((await ann.get(path)).text, path).toMatch(/As of [-\d]+ [:\d]+ UTC, 0 s behind\./);
  });

  test('a required standby that is away is answered with 503, and other pages go on', async () => {
    await using served = await from({
      DATABASE_READ_URL: 'postgres://volley:a-secret@127.0.0.1:9/ledger',
      VOLLEY_READ_REPLICA: 'require',
    });
    const answer = await served.call('/reports/billing');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      kind: 'unavailable',
      detail: expect.stringContaining('the replica does not answer (ECONNREFUSED)'),
    });
    expect((await served.call('/runs')).status).toBe(200);
    const ann = await served.visitor();
    expect((await ann.get('/billing?from=&to=')).status).toBe(503);
    expect((await ann.get(`/runs/${run}`)).status).toBe(200);
  });
});

test('a promoted standby is named', async () => {
  await postgres.promote();
  const { stdout } = await volleyInProcess(['billing', 'report', '--json'], {
    cwd: scene.workspace.folder,
    env: { ...scene.environment, ...replica() },
  });
  expect(JSON.parse(stdout).read).toEqual({
    from: 'primary',
    because: 'the replica is no standby, or not any more: it takes changes of its own',
  });
});
