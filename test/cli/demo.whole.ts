import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  type EmbeddedServerLease,
  embeddedServerStatus,
  leaseEmbeddedServer,
} from '../../src/platform/embedded-postgres.ts';
import type { JournalLine } from '../../src/sandbox/journal.ts';
import { copyHome, removeHome, throwAwayOptions } from '../support/embedded-home.ts';
import { readJournal } from '../support/journal.ts';
import '../support/localhost-names.ts';
import { startInProcess, volleyInProcess } from '../support/volley.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
let home: string;
let server: EmbeddedServerLease;
/** The demos of this file share a ledger, as those of a user do. */
beforeAll(async () => {
  workspace = await makeWorkspace();
  home = join(workspace.folder, '.volley/demo');
  chmodSync(workspace.folder, 0o711);
  copyHome(inject('initialHome'), home);
  // Started by the test, Postgres flushes nothing to disk.
  server = await leaseEmbeddedServer(home, throwAwayOptions);
});
afterAll(async () => {
  await server.release();
  await removeHome(home);
  await workspace[Symbol.asyncDispose]();
});

const journalOf = (): Promise<readonly JournalLine[]> => readJournal(join(home, 'sandbox-journal.jsonl'));

/** Returns the demo's output, and what the sandbox received meanwhile. */
async function demo(...flags: readonly string[]) {
  const before = existsSync(join(home, 'sandbox-journal.jsonl')) ? (await journalOf()).length : 0;
  const printed = await volleyInProcess(['demo', ...flags], {
    cwd: workspace.folder,
    // The demo ignores DATABASE_URL: this one cannot be reached.
    env: { DATABASE_URL: 'postgres://127.0.0.1:1/production' },
    screen: { width: 100, colour: false },
  });
  expect(readdirSync(workspace.folder)).toEqual(['.volley']);
  expect(readdirSync(join(workspace.folder, '.volley'))).toEqual(['demo']);
  return { ...printed, journal: (await journalOf()).slice(before) };
}

type SentRequest = {
  readonly message_id: string;
  readonly recipients: string[];
  readonly state: string;
  readonly outcomes: string[];
};

/** The ledger has each request that the sandbox has received in all demos, and no other. */
async function expectAgreement(): Promise<void> {
  const client = new pg.Client(server.address);
  await client.connect();
  const { rows: requests } = await client.query<SentRequest>(
    `SELECT message_id, request_state AS state, array_agg(address ORDER BY position) AS recipients,
            array_agg(outcome ORDER BY position) AS outcomes
     FROM recipient_states
     GROUP BY run_id, request, message_id, request_state`,
  );
  await client.end();
  const journal = await journalOf();
  const byId = new Map(requests.map((row) => [row.message_id, row]));
  expect(journal).toHaveLength(requests.length);
  for (const { messageId, recipients, status } of journal) {
    expect(byId.get(messageId ?? '')).toMatchObject({ state: 'accepted', recipients });
    expect(status).toBe(200);
  }
  for (const { outcomes } of requests) {
    for (const outcome of outcomes) expect(['delivered', 'undelivered']).toContain(outcome);
  }
}

/** The demo's output in README; a line with … stands for any lines. */
function linesOfReadme(): string[] {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const block = /^```\n(Run \S+ {2}outage-notice.*?)^```$/ms.exec(readme)?.[1];
  if (block === undefined) throw new Error('README shows nothing of the demo');
  return block.split('\n').filter((line) => !line.includes('…'));
}

/** A line without figures, ids, folders and widths of columns. */
function shapeOf(line: string): string {
  return line
    .replace(/\b\d{6}-[a-z0-9]{5}\b/g, 'RUN')
    .replace(/\S*\/(?=\.volley\/demo\/)/g, '')
    .replace('DATABASE_URL= ', '')
    .replace(/\d[\d.]*/g, 'N')
    .replace(/─+/g, '─')
    .replace(/ +/g, ' ');
}

const shapesOf = (text: string): ReadonlySet<string> => new Set(text.split('\n').map(shapeOf));

test('the demo sends to all recipients by SMS, email and fax, and its ledger agrees with the sandbox about each of them', async () => {
  const { code, stdout, stderr } = await demo();
  expect(stderr).toMatch(/sending .*385\/385 requests/);
  expect(stdout).toMatch(
    /outage-notice {2}completed\n {2}contacts {4}500 read: 54 invalid\n {2}requests {4}385: 385 accepted/,
  );
  expect(stdout).toContain('│ SubAccount │ Requests │ Recipients │ Unknown │ Delivered │');
  expect(stdout).toMatch(/│ Total +│ +897 │ +1350 │ +0 │/);
  expect(stdout).toMatch(
    /^ {2}DATABASE_URL= VOLLEY_HOME=\.volley\/demo npx --no-install volley billing report --by SubAccount,ChargeCode --run \S+ \S+ \S+$/m,
  );
  expect(linesOfReadme().filter((line) => !shapesOf(`${stderr}${stdout}`).has(shapeOf(line)))).toEqual([]);
  expect(code).toBe(0);
  await expectAgreement();
});

test('the demo of interfaces sends through every other interface, format and channel, and its ledger agrees too', async () => {
  const { code, journal } = await demo('--interfaces');
  expect(code).toBe(0);
  await expectAgreement();

  const used = new Set(journal.map((line) => `${line.interface} ${line.format} ${line.channel}`));
  expect([...used].toSorted()).toEqual([
    'rest-1.02 json sms',
    'rest-1.02 json voice',
    'rest-1.02 xml email',
    'rest-1.02 xml fax',
    'rest-1.02 xml tts',
    'rest-1.04 json email',
    'rest-1.04 json fax',
    'rest-1.04 json tts',
    'rest-1.04 xml sms',
    'rest-1.04 xml voice',
    'rest-2.02 xml email',
    'rest-2.02 xml fax',
    'rest-2.02 xml sms',
    'soap-tts xml tts',
  ]);

  const statements = journal.filter(
    ({ channel, interface: name }) => channel === 'email' && name === 'rest-1.04',
  );
  expect(new Set(statements.map(({ message }) => message?.files[0]?.name)).size).toBe(6);
  const call = journal.find(({ channel }) => channel === 'voice')?.message;
  expect(call?.keypads).toHaveLength(2);
  expect(call?.fields['MessageToPeople']).toMatch(/^UklGR/);
});

test('the demo with a dashboard shows its runs in a browser while they are sent, and says why recipients of an earlier one are suppressed', async () => {
  const demonstration = startInProcess(['demo', '--dashboard'], { cwd: workspace.folder });
  await Promise.race([demonstration.waitForText('sending'), demonstration.ended]);
  const link = /http:\S+sign-in\S+/.exec(demonstration.stderrSoFar())?.[0] ?? '';
  const cookie = (await fetch(link)).headers.getSetCookie()[0]?.replace(/;.*/, '') ?? '';
  const page = await fetch(new URL('/', link), { headers: { cookie } });
  expect(await page.text()).toMatch(/outage-notice[\s\S]*running/);
  demonstration.stop();
  // Its requests were not all sent.
  const { code, stdout, stderr } = await demonstration.ended;
  expect(code).toBe(3);
  expect(stderr).not.toContain('The dashboard stays');
  expect(stdout).toMatch(/500 read: 54 invalid, \d+ suppressed/);
  expect(stdout).toMatch(
    /^Suppressed are recipients of an earlier demo: .*no longer\nsends to such a number\.$/m,
  );
});

test('a demo that npm started stops sending, and its Postgres ends, when a signal ends npm', async () => {
  await using other = await makeWorkspace();
  const volleyHome = join(other.folder, '.volley');
  const demoHome = join(volleyHome, 'demo');
  chmodSync(other.folder, 0o711);
  copyHome(inject('initialHome'), demoHome);
  const { PATH = '', HOME = '' } = process.env;
  const npm = spawn('npm', ['run', 'demo', '--', '--dashboard'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH, HOME, VOLLEY_HOME: volleyHome },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  npm.stderr.on('data', (piece: Buffer) => {
    stderr += piece.toString();
  });
  const closed = once(npm.stderr, 'close');
  try {
    await expect.poll(() => stderr, { timeout: 60_000 }).toContain('sending');
    npm.kill();
    await expect.poll(() => stderr, { timeout: 5_000 }).toContain('Stopping.');
    await closed;
    const { state } = embeddedServerStatus(demoHome);
    expect(state).toBe('stopped');
  } finally {
    // What is left of the group.
    if (npm.pid !== undefined && !npm.stderr.closed) process.kill(-npm.pid, 'SIGKILL');
    await removeHome(demoHome);
  }
});
