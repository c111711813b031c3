import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chooseServerUser } from '../../src/platform/server-user.ts';
import { type DispatchScene, openDispatchScene } from '../support/dispatch-scene.ts';
import { blocksOf } from '../support/documents.ts';
import { freePort } from '../support/free-port.ts';
import { openLedgerIn } from '../support/ledger.ts';
import { statusOf } from '../support/planned-run.ts';
import { findPostgresPrograms } from '../support/postgres-programs.ts';
import { runStatement } from '../support/statement.ts';

/** Plays the commands of docs/how-to/backup.md, with other folders and times, while a run is sent. */
const blocks = blocksOf('docs/how-to/backup.md').map(({ text }) => text);
const requests = 400;

let work: string;
let port: number;
beforeEach(async () => {
  work = mkdtempSync(join(tmpdir(), 'volley-test-restore-'));
  chmodSync(work, 0o711);
  port = await freePort();
  const user = chooseServerUser(join(work, 'data'));
  for (const folder of ['', 'backup', 'backup/wal', 'servers'])
    mkdirSync(join(work, folder), { recursive: true });
  if (user.uid !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, work]);
  await type(
    'initdb --pgdata=servers/first --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync',
  );
  const settings = [
    `port = ${port}`,
    "listen_addresses = '127.0.0.1'",
    "unix_socket_directories = ''",
    "timezone = 'UTC'",
  ];
  appendFileSync(
    join(work, 'servers/first/postgresql.conf'),
    `${[...settings, inWork(blockWith('archive_command'))].join('\n')}\n`,
  );
  await type('pg_ctl --pgdata=servers/first --log=first.log --wait start');
  await asAdministrator(sqlOfDeployment);
  await asAdministrator([
    'CREATE ROLE backup LOGIN REPLICATION',
    'GRANT CONNECT ON DATABASE volley TO backup',
  ]);
});
afterEach(async () => {
  for (const server of ['first', 'restored']) {
    await type(`pg_ctl --pgdata=servers/${server} --mode=immediate --wait stop`).catch(() => undefined);
  }
  rmSync(work, { recursive: true, force: true });
});

/** What docs/how-to/deployment.md lets an administrator do: two roles, the database, and rights in it. */
const sqlOfDeployment = blocksOf('docs/how-to/deployment.md')
  .filter(({ language, text }) => language === 'sql' && !text.includes('volley_queue'))
  .flatMap(({ text }) => text.trim().split(/;\n?/))
  .filter((statement) => statement !== '');

async function asAdministrator(statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    const database = statement.includes('ON SCHEMA') ? 'volley' : 'postgres';
    await runStatement(`postgres://postgres@127.0.0.1:${port}/${database}`, statement);
  }
}

const ownerUrl = (): string => `postgres://volley_owner@127.0.0.1:${port}/volley`;

function blockWith(words: string): string {
  const found = blocks.filter((text) => text.includes(words));
  return found.length === 1
    ? (found[0] ?? '')
    : expect.fail(`${found.length} blocks of the page have ${words}`);
}

/** With the folders, the address and the day of the test in place of the page's. */
const inWork = (text: string): string =>
  text
    .replaceAll('db.example', `127.0.0.1:${port}`)
    .replaceAll('/backup/base-2026-11-21', '/backup/base-*')
    .replaceAll('/backup/', `${work}/backup/`)
    .replaceAll('/var/lib/postgresql/', `${work}/servers/`);

/** Types commands into a shell as the server's user. */
async function type(commands: string): Promise<void> {
  await promisify(execFile)('sh', ['-ec', inWork(commands)], {
    ...chooseServerUser(join(work, 'servers')),
    cwd: work,
    env: { PATH: `${findPostgresPrograms()}:${process.env['PATH']}` },
  });
}

async function openScene(): Promise<DispatchScene> {
  const url = ownerUrl();
  return openDispatchScene({
    requests,
    concurrency: 4,
    peer: { latency: 5 },
    ledger: openLedgerIn({ connection: { connectionString: url }, url, drop: async () => undefined }),
  });
}

/** The steps of the page after a restore. Nothing may be sent before the operator's word, and no message twice. */
async function recover(scene: DispatchScene, run: string, since: Date): Promise<void> {
  const before = scene.peer.received().requests;
  const refused = await scene.runHere(['resume', run]);
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('volley db restored --since TIME'),
  });
  expect(scene.peer.received().requests).toBe(before);
  const time = `${since.toISOString().slice(0, 19)}Z`;
  expect(await scene.runHere(['db', 'restored', '--since', time, '--reason', 'disk lost'])).toMatchObject({
    code: 0,
  });
  const { requests: states } = await statusOf(scene, run);
  expect(states).toMatchObject({ total: requests, planned: 0 });
  expect(states.accepted).toBeGreaterThan(0);
  // What was being sent at the time of the backup becomes in doubt when its slice is acquired.
  expect(states.in_doubt + states.sending).toBe(requests - states.accepted);
  expect((await scene.runHere(['resume', run])).code).toBe(3);
  expect((await statusOf(scene, run)).requests).toMatchObject({
    sending: 0,
    in_doubt: requests - states.accepted,
  });
  const times = new Map<string, number>();
  for (const { messageId } of await scene.peer.acceptances())
    times.set(messageId, (times.get(messageId) ?? 0) + 1);
  expect(Math.max(...times.values())).toBe(1);
  expect(times.size).toBeGreaterThan(states.accepted);
}

test('a dump that was made during a run, restored by the page, sends nothing until the operator confirms it', async () => {
  await using scene = await openScene();
  const run = await scene.plan();
  const sending = scene.start(['resume', run]);
  await scene.peer.hasReceived(100);
  const since = new Date();
  await type(blockWith('pg_dump'));
  expect((await sending.ended).code).toBe(0);
  await asAdministrator(['DROP DATABASE volley WITH (FORCE)']);
  await asAdministrator(sqlOfDeployment.filter((statement) => !statement.startsWith('CREATE ROLE')));
  await type(blockWith('pg_restore'));
  await recover(scene, run, since);
});

test('recovery to a time in the middle of a run, by the page, sends nothing until the operator confirms it', async () => {
  await using scene = await openScene();
  const run = await scene.plan();
  await type(blockWith('pg_basebackup'));
  const sending = scene.start(['resume', run]);
  await scene.peer.hasReceived(100);
  const since = new Date();
  await scene.peer.hasReceived(200);
  const administrator = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const [switched] = await runStatement(administrator, 'SELECT pg_walfile_name(pg_switch_wal()) AS file');
  const archived = 'SELECT FROM pg_stat_archiver WHERE last_archived_wal >= $1';
  while ((await runStatement(administrator, archived, [String(switched?.['file'])])).length === 0)
    await sleep(20);
  sending.process.kill('SIGKILL');
  await sending.ended;
  await type('pg_ctl --pgdata=servers/first --mode=immediate --wait stop');
  const target = `${since.toISOString().slice(0, 23).replace('T', ' ')}+00`;
  await type(blockWith('recovery_target_time').replace('2026-11-21 08:00:00+00', target));
  await recover(scene, run, since);
});
