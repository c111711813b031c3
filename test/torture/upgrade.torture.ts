import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { projectFolder } from '../support/documents.ts';
import { expectNothingLostOrDuplicated } from '../support/expect-dispatched.ts';
import { startVolley } from '../support/volley.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

/** Plays docs/how-to/upgrade.md with two packed versions. The newer one has a migration more. */
const migration = `export async function up(knex) {
  await knex.raw('ALTER TABLE runs ADD COLUMN later text; CREATE TABLE later (words text)');
}
export async function down() {}
`;

let workspace: Workspace;
beforeAll(async () => {
  workspace = await makeWorkspace({ 'former/package.json': '{}', 'newer/package.json': '{}' });
  const { folder } = workspace;
  const former = await pack(projectFolder);
  await promisify(execFile)('tar', ['-xzf', former, '-C', folder]);
  const source = join(folder, 'package');
  await writeFile(join(source, 'dist/migrations/29990101000000_later.js'), migration);
  const packageFile = await readFile(join(source, 'package.json'), 'utf8');
  await writeFile(
    join(source, 'package.json'),
    packageFile.replace(/"version": ".*?"/, '"version": "999.0.0"'),
  );
  await install('former', former);
  await install('newer', await pack(source, '--ignore-scripts'));
});
afterAll(() => workspace?.[Symbol.asyncDispose]());

async function pack(folder: string, ...options: readonly string[]): Promise<string> {
  const words = ['pack', '--json', '--pack-destination', workspace.folder, ...options];
  const { stdout } = await promisify(execFile)('npm', words, { cwd: folder });
  const name = /"filename": "(.*?)"/.exec(stdout)?.[1] ?? expect.fail(stdout);
  return join(workspace.folder, name);
}

async function install(folder: 'former' | 'newer', file: string): Promise<void> {
  const cwd = join(workspace.folder, folder);
  await promisify(execFile)('npm', ['install', '--omit=optional', '--prefer-offline', file], { cwd });
}

test('an upgrade during a run, one process after the other, loses no request and sends none twice', async () => {
  await using scene = await openDispatchScene({ requests: 400, concurrency: 2, peer: { latency: 30 } });
  const start = (version: 'former' | 'newer', ...words: readonly string[]) =>
    startVolley(words, {
      cwd: scene.workspace.folder,
      env: scene.environment,
      launcher: join(workspace.folder, version, 'node_modules/@volley-engine/volley/src/cli/volley.js'),
    });
  const run = await scene.plan();
  const [resumed, formerWorker] = [start('former', 'resume', run), start('former', 'worker')];
  await scene.peer.hasReceived(60);

  formerWorker.process.kill('SIGTERM');
  expect((await formerWorker.ended).code).toBe(0);
  const newerWorker = start('newer', 'worker');
  const migrated = "SELECT FROM knex_migrations WHERE name = '29990101000000_later'";
  while ((await scene.ledger.ledger.pool.query(migrated)).rowCount === 0) await sleep(20);
  const { requests } = scene.peer.received();
  await scene.peer.hasReceived(requests + 60);

  resumed.process.kill('SIGTERM');
  expect((await resumed.ended).code).toBe(130);
  const { code, stderr } = await start('newer', 'resume', run).ended;
  expect(code, stderr).toBe(0);
  newerWorker.process.kill('SIGTERM');
  expect((await newerWorker.ended).code).toBe(0);
  const figures = await expectNothingLostOrDuplicated(scene, { run, kills: [], timesToFirstRequest: [] }, 0);
  expect(figures.accepted).toBe(400);
});
