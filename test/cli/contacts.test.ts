import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endAfterSilence } from '../../src/cli/plans/check-campaign.ts';
import { bytesOf } from '../support/bytes.ts';
import { collect } from '../support/collect.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { problemsRejected } from '../support/thrown-problems.ts';
import { type Ended, volley, volleyInProcess } from '../support/volley.ts';
import {
  accountsYaml,
  contactsCsv,
  makeWorkspace,
  smsCampaignYaml,
  type Workspace,
} from '../support/workspace.ts';

let database: TestDatabase;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  database = await createTestDatabase();
  env = {
    DATABASE_URL: database.url,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
    VOLLEY_SANDBOX_TOKEN: 'any',
  };
});
afterAll(() => database.drop());
let workspace: Workspace;
beforeEach(async () => {
  workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'piped.yaml': smsCampaignYaml.replace('contacts.csv', '"-"'),
    'campaign.yaml': smsCampaignYaml,
    'contacts.csv': contactsCsv(3),
    'fixed.csv': contactsCsv(2),
  });
});
afterEach(() => workspace[Symbol.asyncDispose]());

function command(words: readonly string[], input: string | Uint8Array = ''): Promise<Ended> {
  return volleyInProcess(words, { cwd: workspace.folder, env, input });
}

describe('contacts from standard input', () => {
  test('contacts from standard input are planned like those of a file, compressed or not', async () => {
    const { stdout: expected } = await command(['plan', 'campaign.yaml']);
    expect(expected).toContain('3 read: 3 to send to');
    const withoutFile = (text: string): string => text.replace(/^ {2}file .*\n/m, '');
    // One case has a real pipe.
    for (const [run, input] of [
      [volley, contactsCsv(3)],
      [volleyInProcess, gzipSync(contactsCsv(3))],
    ] as const) {
      const where = { cwd: workspace.folder, env, input };
      const { code, stdout, stderr } = await run(['plan', 'piped.yaml'], where);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(withoutFile(stdout)).toBe(withoutFile(expected));
      expect(stdout).toContain('  file        standard input (utf-8');
    }
  });

  test('volley plan --check reads the header of contacts from standard input', async () => {
    expect(await command(['plan', '--check', 'piped.yaml'], contactsCsv(3))).toMatchObject({ code: 0 });
    expect(await command(['plan', '--check', 'piped.yaml'], 'a,b\n')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('standard input has no column "mobile"'),
    });
  });

  test('empty standard input is refused', async () => {
    for (const words of [['plan', '--check'], ['plan'], ['run']]) {
      expect(await command([...words, 'piped.yaml'])).toEqual({
        code: 2,
        stdout: '',
        stderr: 'standard input: The file is empty; expected a header line.\n',
      });
    }
  });

  test('volley plan --check stops waiting for a pipe that stays open without data', async () => {
    let destroyed = false;
    const silent = Object.assign(
      (async function* (): AsyncGenerator<Buffer> {
        yield Buffer.from('a,b\n');
        await new Promise(() => {});
      })(),
      {
        destroy: () => {
          destroyed = true;
        },
      },
    );
    const given = endAfterSilence(silent, 10);
    expect(await problemsRejected(() => collect(given ?? bytesOf('')))).toEqual([
      'standard input: No data arrived for 5 s. Pipe a file in, or name one with --contacts.',
    ]);
    expect(destroyed).toBe(true);
  });

  test('all contacts from standard input arrive when the command starts to read late', async () => {
    const given = endAfterSilence(bytesOf('a,b\n1,2\n', 3));
    expect(Buffer.concat(await collect(given ?? bytesOf(''))).toString()).toBe('a,b\n1,2\n');
  });
});

describe('--contacts', () => {
  test('--contacts replaces the contact file of the campaign, and can be repeated', async () => {
    const read = async (...words: string[]) => (await command(['plan', 'campaign.yaml', ...words])).stdout;
    expect(await read('--contacts', 'fixed.csv')).toContain('2 read: 2 to send to');
    expect(await read('--contacts', 'fixed.csv', '--contacts', 'contacts.csv')).toContain(
      '5 read: 3 to send to',
    );
  });

  test('--contacts can name standard input', async () => {
    const words = ['plan', 'campaign.yaml', '--contacts', '-'];
    expect((await command(words, contactsCsv(1))).stdout).toContain('1 read: 1 to send to');
  });

  test('a wrong --contacts is refused with the name of the option', async () => {
    expect(await command(['plan', '--check', 'campaign.yaml', '--contacts', 'none.csv'])).toMatchObject({
      code: 2,
      stderr: '--contacts: The contact file none.csv cannot be read (it does not exist).\n',
    });
  });
});
