import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyCommand } from '../../src/cli/reference/every-command.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { parseCommands } from '../support/shell-words.ts';
import { type Ended, startInProcess } from '../support/volley.ts';
import { makeProject } from './scenes.ts';

/** In the order of the help, in one project, and in this process: a shell types only the commands of the pages. */
const lines = (await everyCommand()).flatMap(({ command }) => command.examples.map(([line]) => line));

/** Examples that are not run here, with the reason. */
const notRun: readonly (readonly [example: RegExp, reason: string])[] = [
  [/^volley demo/, 'test/cli/demo.whole.ts runs it'],
  [/^volley dashboard$/, 'it would open a browser; test/cli/dashboard.whole.ts runs it with another program'],
  [/ \| source$|^eval /, 'test/cli/completion.test.ts runs it in its shell'],
  [/^volley sandbox/, 'docs/reference/sandbox.md has it too, so test/docs/walkthrough.whole.ts types it'],
];

/** Examples that end with another exit code than 0 in this project, with the reason. */
const endsOtherwise: readonly (readonly [example: RegExp, code: number, reason: string])[] = [
  [/^volley run campaigns\/first\.yaml --sandbox/, 2, 'the example before it has sent the same'],
  [/^volley run --plan/, 2, 'the first example has sent the same'],
  [/^volley rerun|--of latest/, 2, 'every recipient was reached'],
  [/^volley approve/, 2, 'the run waits for no approval'],
  [/^volley (pause|cancel|promote)/, 2, 'the run is over'],
  [/--look-up|delivery-reports poll/, 2, 'the account has no status look-up'],
  [/^volley cells/, 2, 'the project has no file of cells; test/cli/cells-move.test.ts has one'],
  [/--link$/, 2, 'people reach no dashboard of the project; test/dashboard/base/token-link.whole.ts has one'],
  [/^volley billing reconcile/, 3, 'the invoice has nothing of the run'],
];

/** These run until they are stopped. */
const services = /^volley (serve|worker|dashboard)\b/;

const folder = mkdtempSync(join(tmpdir(), 'volley-test-'));
let sandbox: Sandbox;
let database: TestDatabase;

beforeAll(async () => {
  [sandbox, database] = await Promise.all([startSandbox({}), createTestDatabase()]);
  makeProject(folder);
  writeFileSync(join(folder, 'members.csv'), 'mobile,name\n0412345678,Ann\n');
  writeFileSync(join(folder, 'export.csv'), 'mobile,name,code\n0412345678,Ann,C1\n');
  writeFileSync(join(folder, 'november.csv'), 'MessageID,Recipient,Price\n');
  writeFileSync(join(folder, 'opted-out.csv'), 'mobile\n0412345678\n');
});

afterAll(async () => {
  await Promise.all([sandbox.close(), database.drop()]);
  rmSync(folder, { recursive: true, force: true });
});

const isRun = (line: string): boolean => !notRun.some(([example]) => example.test(line));

test.each(lines.filter(isRun))('%s', async (line) => {
  const { code, stderr } = await run(line);
  const expected = endsOtherwise.find(([example]) => example.test(line))?.[1] ?? 0;
  expect({ code, stderr: code === expected ? '' : stderr }).toEqual({ code: expected, stderr: '' });
});

test('every exception still matches an example', () => {
  const exceptions = [...notRun, ...endsOtherwise].map(([example]) => example);
  expect(exceptions.filter((example) => !lines.some((line) => example.test(line)))).toEqual([]);
});

function run(line: string): Promise<Ended> {
  const token = 'f'.repeat(48);
  const env = {
    DATABASE_URL: database.url,
    VOLLEY_SANDBOX_URL: sandbox.url,
    VOLLEY_SANDBOX_TOKEN: token,
    VOLLEY_AUTH_TOKEN: token,
    VOLLEY_WEBHOOK_TOKEN: token,
    LOG_LEVEL: 'silent',
  };
  const [command = { words: [] }] = parseCommands(line).filter(({ words }) => words[0] === 'volley');
  const words = command.words.slice(1);
  const started = startInProcess(words, { cwd: folder, env, input: 'mobile,name,code\n0412345678,Ann,C1\n' });
  if (services.test(line)) started.stop();
  return started.ended;
}
