import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { runStatement } from '../support/statement.ts';
import { volley, volleyInProcess } from '../support/volley.ts';
import { accountsYaml, makeWorkspace, type Workspace } from '../support/workspace.ts';

let postgres: OwnPostgres;
let workspace: Workspace;
/** A database whose role must log in with a password. */
let url: string;

beforeAll(async () => {
  postgres = await startOwnPostgres();
  workspace = await makeWorkspace({ '.volley-project': '', 'campaigns/accounts.yaml': accountsYaml });
  const own = new URL(await postgres.createDatabase());
  await runStatement(own.href, `CREATE ROLE locked LOGIN PASSWORD 'hush'`);
  own.username = 'locked';
  url = own.href;
  own.username = 'postgres';
  const [row] = await runStatement(own.href, 'SHOW hba_file');
  const rules = `VALUES ('local all locked scram-sha-256'), ('local all all trust')`;
  await runStatement(own.href, `COPY (${rules}) TO '${row?.['hba_file']}'`);
  await runStatement(own.href, 'SELECT pg_reload_conf()');
});
afterAll(async () => {
  await postgres[Symbol.asyncDispose]();
  await workspace[Symbol.asyncDispose]();
});

/** A process, which an open connection would keep. */
const call = (words: readonly string[], address: string) =>
  volley(words, { cwd: workspace.folder, env: { DATABASE_URL: address } });
const callHere = (words: readonly string[], address: string) =>
  volleyInProcess(words, { cwd: workspace.folder, env: { DATABASE_URL: address } });

test.each(['runs', 'db status'])(
  'volley %s ends at once if the database asks for a password and DATABASE_URL has none',
  async (command) => {
    const from = Date.now();
    const { code, stderr } = await call(command.split(' '), url);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(
        'Cannot use the database (it asks for a password, and DATABASE_URL has none). Check that',
      ),
    });
    expect(stderr).not.toMatch(/\n\s+at /);
    // Postgres would close the connection after a minute.
    expect(Date.now() - from).toBeLessThan(30_000);
  },
);

test('doctor says that DATABASE_URL lacks the password', async () => {
  const from = Date.now();
  const { code, stdout } = await call(['doctor'], url);
  expect(Date.now() - from).toBeLessThan(30_000);
  expect(code).toBe(3);
  expect(stdout).toMatch(
    /^problem +database: Postgres at .* cannot be reached: it asks for a password, and DATABASE_URL has none\. Next: Correct user and password in DATABASE_URL/m,
  );
});

test.each(['sslrootcert', 'sslcert', 'sslkey'])(
  'a file of %s in DATABASE_URL that cannot be read is named, also by doctor',
  async (name) => {
    const address = `postgres://volley:hush@127.0.0.1:1/volley?${name}=/no/such/file.pem`;
    const what = `DATABASE_URL: The file of "${name}" cannot be read (it does not exist).`;
    const { code, stderr } = await callHere(['runs'], address);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(what) });
    expect(stderr).not.toMatch(/\n\s+at |hush/);
    const diagnosis = await callHere(['doctor'], address);
    expect(diagnosis.code).toBe(3);
    expect(diagnosis.stdout).toMatch(/^problem +database: DATABASE_URL: The file of "/m);
  },
);
