import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Peer } from '../gateway/test-peers.ts';
import {
  cloneDatabase,
  createBareDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../support/database.ts';
import { documentPaths, projectFolder } from '../support/documents.ts';
import { removeHome } from '../support/embedded-home.ts';
import { freePort } from '../support/free-port.ts';
import { runStatement } from '../support/statement.ts';
import { startInProcess } from '../support/volley.ts';
import { furnish, makeProject, runVolley, type Scene, type Setting, settings } from './scenes.ts';
import { openTerminal } from './terminal.ts';
import { programOf, runTypedCommands } from './typed-commands.ts';
import { exitCodeOf, fileOf, isTyped, notTyped, readCrontab, type Step, stepsOf } from './walkthrough.ts';

/** Beside the folder of the project: the home of the reader, and the programs that the reader has. */
const root = mkdtempSync(join(tmpdir(), 'volley-test-'));
const template = join(root, 'template');
const token = 'f'.repeat(48);
const tokens = {
  VOLLEY_SANDBOX_TOKEN: token,
  VOLLEY_AUTH_TOKEN: token,
  VOLLEY_WEBHOOK_TOKEN: token,
};
let sandbox: Sandbox;
let failingSandbox: Sandbox;
let slowSandbox: Sandbox;
let typed: Peer;
/** With a completed run of `campaigns/first.yaml`. */
let used: TestDatabase;

beforeAll(async () => {
  chmodSync(root, 0o711);
  [sandbox, failingSandbox, slowSandbox, used, typed] = await Promise.all([
    startSandbox({}),
    startSandbox({ failRate: 1 }),
    startSandbox({ latency: 1_000 }),
    createTestDatabase(),
    runTypedCommands(),
  ]);
  mkdirSync(template);
  makeProject(template);
  const env = { DATABASE_URL: used.url, VOLLEY_SANDBOX_URL: sandbox.url, ...tokens };
  await runVolley(template, 'run campaigns/first.yaml', 0, env);
  rmSync(join(template, '.volley'), { recursive: true, force: true });
  // A copy of the database must not count as restored.
  await runStatement(used.url, 'UPDATE ledger_location SET location = NULL');
});

afterAll(async () => {
  typed.stop();
  await Promise.all([sandbox.close(), failingSandbox.close(), slowSandbox.close(), used.drop()]);
  rmSync(root, { recursive: true, force: true });
});

const pages = documentPaths.filter((path) => stepsOf(path).some(isTyped));

describe('every command of a page works as written', () => {
  test.concurrent.each(pages)(
    '%s',
    async (path) => {
      const setting = settings[path] ?? {};
      await using desk = await openPage(path, setting);
      await setting.before?.(desk.scene);
      for (const step of stepsOf(path).filter(isTyped)) await desk.take(step);
      expect(await desk.scene.terminal.stopServices()).toEqual([]);
    },
    180_000,
  );
});

test('every exception of the walkthrough still matches a command', () => {
  const commands = documentPaths.flatMap(stepsOf);
  expect(notTyped.filter(([command]) => !commands.some(({ text }) => command.test(text)))).toEqual([]);
});

test('every setting belongs to a page with commands', () => {
  expect(Object.keys(settings).filter((path) => !pages.includes(path))).toEqual([]);
});

type Page = AsyncDisposable & { readonly scene: Scene; readonly take: (step: Step) => Promise<void> };

async function openPage(path: string, { start, after = [], replace }: Setting): Promise<Page> {
  const place = mkdtempSync(join(root, 'page-'));
  chmodSync(place, 0o711);
  const folder = join(place, 'project');
  furnish(folder, start, template);
  const ports = await makePrograms(place, start);
  const database = await makeDatabase(start);
  const service = usesOwnSandbox(path) ? `http://127.0.0.1:${ports.get('8025')}` : sandbox.url;
  const env = {
    PATH: `${place}/bin:${process.env['PATH'] ?? ''}`,
    HOME: place,
    VOLLEY_SANDBOX_URL: service,
  };
  if (database) writeEnvFile(folder, { DATABASE_URL: database.url, VOLLEY_SANDBOX_URL: service, ...tokens });
  const terminal = openTerminal(folder, env);
  const releases: (() => Promise<void>)[] = [];
  const scene: Scene = {
    atEnd: (release) => void releases.push(release),
    folder,
    env,
    terminal,
    volley: (command, code = 0, changes = {}) => runVolley(folder, command, code, { ...env, ...changes }),
    async serve() {
      const words = ['serve', '--port', `${ports.get('8026')}`, '--api-port', `${ports.get('8027')}`];
      const service = startInProcess(words, { cwd: folder, env: { ...env, LOG_LEVEL: 'silent' } });
      releases.push(async () => {
        service.stop();
        await service.ended;
      });
      await service.waitForText('Dashboard: ');
    },
    failingSandbox: failingSandbox.url,
    slowSandbox: slowSandbox.url,
  };
  const parts = new Map([
    ...ports,
    ['/srv/volley', folder],
    ['/etc/volley', join(place, 'etc')],
    ['/opt/volley/node_modules/.bin', join(place, 'bin')],
    ...(database ? ([['postgres://volley:password@db.example/volley', database.url]] as const) : []),
    ...(replace?.() ?? []),
  ]);
  const here = (text: string): string =>
    text.replace(new RegExp([...parts.keys()].join('|'), 'g'), (part) => parts.get(part) ?? part);

  async function take({ kind, where, text }: Step): Promise<void> {
    if (kind === 'file') {
      const file = join(folder, fileOf(text) ?? '');
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return;
    }
    for (const command of kind === 'crontab' ? asCronStarts(text, place) : [text]) {
      const { code, output } = await terminal.type(here(command));
      const expected = exitCodeOf(text);
      if (code !== expected)
        throw new Error(`${where}: ended with ${code}; the page says ${expected}\n$ ${text}\n${output}`);
    }
    for (const [command, action] of after) if (command.test(text)) await action(scene);
  }

  return {
    scene,
    take,
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]();
      for (const release of releases) await release();
      if (database) await database.drop();
      else for (const project of ['.', 'shop']) await removeHome(join(folder, project, '.volley'));
    },
  };
}

async function makeDatabase(start: Setting['start'] = 'project'): Promise<TestDatabase | undefined> {
  if (start === 'project') return cloneDatabase(used);
  return start === 'database' ? createBareDatabase() : undefined;
}

const usesOwnSandbox = (path: string): boolean =>
  stepsOf(path).some(({ text }) => /\bvolley sandbox\b/.test(text));

function writeEnvFile(folder: string, settings: Readonly<Record<string, string>>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.env'), lines.join(''), { mode: 0o600 });
}

/**
 * Programs of the reader: this checkout's `volley`, whose services listen on ports of this page's own. Its services are
 * processes, and so are all commands of a page whose reader works in a clone.
 */
async function makePrograms(place: string, start: Setting['start']): Promise<Map<string, string>> {
  const names = ['8025', '8026', '8027', '9026'];
  const ports = new Map<string, string>();
  for (const name of names) ports.set(name, String(await freePort()));
  const real = `'${process.execPath}' '${join(projectFolder, 'src/cli/volley.js')}'`;
  const command = start === 'clone' ? real : programOf(typed);
  const volley = `#!/bin/sh
case " $* " in
  *" --port "*) ;;
  *" sandbox "*) set -- "$@" --port ${ports.get('8025')} ;;
  *" serve "*) set -- "$@" --port ${ports.get('8026')} --api-port ${ports.get('8027')} ;;
esac
case " $* " in
  *" sandbox "*|*" serve "*|*" worker "*|*" dashboard "*) exec ${real} "$@" ;;
esac
exec ${command} "$@"
`;
  mkdirSync(join(place, 'bin'));
  // The reader has no browser.
  for (const [name, text] of Object.entries({ volley, 'xdg-open': '#!/bin/sh\n' }))
    writeFileSync(join(place, 'bin', name), text, { mode: 0o755 });
  return ports;
}

/** Cron gives a command nothing of the user's environment. */
function asCronStarts(text: string, place: string): string[] {
  const { environment, commands } = readCrontab(text);
  const path = (environment['PATH'] ?? '/usr/bin:/bin').replace('/usr/local/bin', `${place}/bin`);
  return commands.map(
    (command) => `env -i HOME=${place} PATH=${path} /bin/sh -c '${command.replaceAll("'", `'\\''`)}'`,
  );
}
