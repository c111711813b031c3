import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readSheet } from 'read-excel-file/node';
import { Temporal } from 'temporal-polyfill';
import { leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { createTestDatabase } from '../support/database.ts';
import { projectFolder } from '../support/documents.ts';
import { throwAwayOptions } from '../support/embedded-home.ts';
import { runStatement } from '../support/statement.ts';
import { volleyInProcess } from '../support/volley.ts';
import { sheetData, workbookOf } from '../support/workbooks.ts';
import type { Terminal } from './terminal.ts';

/** Where a reader types the commands of a page. */
export type Scene = {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly terminal: Terminal;
  /** Runs a command before the page begins, and expects this exit code. */
  readonly volley: (command: string, code?: number, env?: Readonly<Record<string, string>>) => Promise<void>;
  /** Starts `volley serve` in this process, for a page that does not. */
  readonly serve: () => Promise<void>;
  /** Is called when the page is over. */
  readonly atEnd: (release: () => Promise<void>) => void;
  /** The address of a sandbox that answers each request with 500. */
  readonly failingSandbox: string;
  /** The address of a sandbox that answers each request after a second. */
  readonly slowSandbox: string;
};

/** What a page finds. Nothing of it is on the page. */
export type Setting = {
  /**
   * `nothing`: an empty folder; `database`: the same with an empty database in `.env`; `clone`: a fresh clone; `project`
   * (default): campaigns, accounts, and a ledger with a completed run of `campaigns/first.yaml`.
   */
  readonly start?: 'nothing' | 'database' | 'clone' | 'project';
  readonly before?: (scene: Scene) => Promise<void>;
  /** What the reader does after a command, as the page says in words. */
  readonly after?: readonly (readonly [command: RegExp, action: (scene: Scene) => void | Promise<void>])[];
  /** Parts of commands that depend on the day of the test. */
  readonly replace?: () => readonly (readonly [part: string, other: string])[];
};

export const settings: Readonly<Record<string, Setting>> = {
  'README.md': { start: 'clone', after: [[/^volley init shop/, keepServer]] },
  'docs/tutorial.md': { start: 'nothing', after: [[/^volley init shop/, keepServer]] },
  'docs/reference/settings.md': { start: 'database' },
  'docs/reference/api.md': { before: ({ serve }) => serve() },
  'docs/how-to/caps.md': {
    before: async ({ folder }) =>
      appendFileSync(
        join(folder, 'campaigns/accounts.yaml'),
        '    frequency: { most: 3, within: 7d, over: [sms, email] }\n    limits: { recipientsPerDay: 6 }\n',
      ),
  },
  'docs/how-to/limits.md': { after: [[/^volley plan campaigns\/limited/, planForApproval]] },
  'docs/how-to/canary.md': { after: [[/^volley plan campaigns\/night/, sendCanary]] },
  'docs/how-to/guard.md': { after: [[/^volley plan campaigns\/night/, stopByGuard]] },
  'docs/how-to/deployment.md': { start: 'database' },
  'docs/how-to/billing.md': {
    before: async ({ folder }) => {
      // Bills a message that was never sent.
      writeFileSync(join(folder, 'november.csv'), 'MessageID,Recipient,Price\nA1,+61412345678,0.08\n');
      const packed = gzipSync('Our ref;Recipient;Total cost\nA1;+61412345678;0,08\n');
      writeFileSync(join(folder, 'november.csv.gz'), packed);
    },
    // A month can be closed when it is over.
    replace: () => [
      ['2026-12', month(0)],
      ['2026-11', month(-1)],
    ],
  },
  'docs/how-to/colleagues.md': {
    before: async ({ folder }) =>
      appendFileSync(join(folder, '.env'), 'VOLLEY_DASHBOARD_URL=https://volley.example\n'),
  },
  'docs/how-to/send.md': {
    before: async ({ folder }) =>
      writeFileSync(join(folder, 'campaigns/offer.yaml'), campaign.replace('first', 'offer')),
    after: [[/^volley tail latest --since/, startSlowRun]],
  },
  'docs/how-to/rehearsal.md': {
    before: async ({ folder }) => {
      const rows = Array.from({ length: 60 }, (_, row) => `+614120000${10 + row},Ann,C1`);
      writeFileSync(join(folder, 'campaigns/many.csv'), ['mobile,name,code', ...rows].join('\n'));
      const changed = campaign.replace('first', 'offer').replace('contacts.csv', 'many.csv');
      writeFileSync(join(folder, 'campaigns/offer.yaml'), changed);
    },
  },
  'docs/how-to/contacts.md': {
    before: async ({ folder }) =>
      writeFileSync(
        join(folder, 'export.csv.gz'),
        gzipSync(readFileSync(join(folder, 'campaigns/contacts.csv'))),
      ),
  },
  'docs/how-to/trouble.md': {
    before: runWithDoubts,
    after: [[/--out left-out\.xlsx/, ({ folder }) => fixWorkbook(join(folder, 'left-out.xlsx'))]],
  },
  'docs/how-to/cells.md': { before: makeCells },
  'docs/how-to/monitoring.md': { before: ({ serve }) => serve() },
  'docs/how-to/personal-data.md': {
    before: async ({ folder }) => writeFileSync(join(folder, 'opted-out.csv'), 'email\nann@example.org\n'),
  },
};

/** Makes the folder of a page. */
export function furnish(folder: string, start: Setting['start'], template: string): void {
  if (start === 'clone') makeFreshClone(folder);
  else if (start === 'nothing' || start === 'database') mkdirSync(folder);
  else cpSync(template, folder, { recursive: true });
  chmodSync(folder, 0o711);
}

const contacts = `mobile,name,code
+61412345678,Ann,NET-2600
${Array.from({ length: 3 }, (_, row) => `+614120000${10 + row},Name ${row},NET-3000`).join('\n')}
none,Bob,NET-2600
021 123,Cid,NET-2600
`;

const campaign = `# yaml-language-server: $schema=./campaign.schema.json
campaign: first
account: main
channel: sms
contacts: { file: contacts.csv, country: AU }
message: { Message: "Hi [[name]]", SubAccount: NSW, ChargeCode: "[[code]]" }
dispatch: { chunkSize: 1 }
`;

const mainAccount = `
  main:
    interface: rest-2.02
    baseUrl: \${VOLLEY_SANDBOX_URL}
    authToken: \${VOLLEY_AUTH_TOKEN}
    webhookToken: \${VOLLEY_WEBHOOK_TOKEN}
    rates: [{ channel: sms, unit: part, price: 0.08, currency: AUD }]
`;

/** A project as somewhere in use, with the campaigns of this checkout. */
export function makeProject(folder: string): void {
  cpSync(join(projectFolder, 'campaigns'), join(folder, 'campaigns'), { recursive: true });
  cpSync(join(projectFolder, '.volley-project'), join(folder, '.volley-project'));
  const write = (path: string, text: string): void => writeFileSync(join(folder, 'campaigns', path), text);
  appendFileSync(join(folder, 'campaigns/accounts.yaml'), mainAccount);
  write('first.yaml', campaign);
  write('contacts.csv', contacts);
  write('payroll.csv', 'mobile,name\n+61412345678,Ann\n');
  write(
    'payroll.yaml',
    campaign.replace('first', 'payroll').replace('contacts.csv', 'payroll.csv').replace('"[[code]]"', 'P'),
  );
}

/** In this process, which is faster. */
export async function runVolley(
  folder: string,
  command: string,
  code: number,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const ended = await volleyInProcess(command.split(' '), { cwd: folder, env });
  if (ended.code !== code) throw new Error(`volley ${command} ended with ${ended.code}: ${ended.stderr}`);
}

async function succeed(terminal: Terminal, command: string): Promise<void> {
  const { code, output } = await terminal.type(command);
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${output}`);
}

/** Otherwise each command starts the embedded server and stops it. This one flushes nothing to disk. */
async function keepServer({ folder, atEnd }: Scene): Promise<void> {
  const { release } = await leaseEmbeddedServer(join(folder, 'shop/.volley'), throwAwayOptions);
  atEnd(release);
}

/** The latest run waits for approval. It was planned by the user of this process, and the page's user approves it. */
async function planForApproval({ folder, volley }: Scene): Promise<void> {
  const changed = campaign.replace('campaign: first', 'campaign: second\napproval: required');
  writeFileSync(join(folder, 'campaigns/second.yaml'), changed);
  await volley('run campaigns/second.yaml', 4);
}

/** The latest run waits until a person promotes it. No delivery report of its canary comes. */
async function sendCanary({ folder, volley }: Scene): Promise<void> {
  const canary = '{ recipients: 1, observe: 1s, promote: manual, abort: { unreported: 100% } }';
  const changed = campaign.replace('campaign: first', `campaign: second\ncanary: ${canary}`);
  writeFileSync(join(folder, 'campaigns/second.yaml'), changed);
  await volley('run campaigns/second.yaml', 4);
}

/** The latest run is paused, because no delivery report comes. */
async function stopByGuard({ folder, volley, slowSandbox }: Scene): Promise<void> {
  const changed = campaign
    .replace('campaign: first', 'campaign: second\nguard: { silence: 3s }')
    .replace('contacts.csv', 'second.csv')
    .replace('chunkSize: 1', 'chunkSize: 1, concurrency: 8');
  writeFileSync(join(folder, 'campaigns/second.yaml'), changed);
  const rows = Array.from({ length: 100 }, (_, row) => `+6141200${row + 1000},Ann,C1`);
  writeFileSync(join(folder, 'campaigns/second.csv'), ['mobile,name,code', ...rows].join('\n'));
  await volley('run campaigns/second.yaml', 4, { VOLLEY_SANDBOX_URL: slowSandbox });
}

/** A hundred requests, one a second; those after the pause are sent to the fast sandbox. */
async function startSlowRun({ folder, terminal, slowSandbox }: Scene): Promise<void> {
  const changed = campaign
    .replace('first', 'slow')
    .replace('contacts.csv', 'many.csv')
    .replace('chunkSize: 1', 'chunkSize: 1, concurrency: 1');
  writeFileSync(join(folder, 'campaigns/slow.yaml'), changed);
  const rows = Array.from({ length: 100 }, (_, row) => `+6141200${row + 1000},Ann,C1`);
  writeFileSync(join(folder, 'campaigns/many.csv'), ['mobile,name,code', ...rows].join('\n'));
  await succeed(terminal, `VOLLEY_SANDBOX_URL=${slowSandbox} volley run campaigns/slow.yaml &`);
  await succeed(terminal, 'until volley runs --json --limit 1 | grep running; do sleep 0.1; done');
}

/** The ledgers of the two cells, with their addresses in `.env`. */
async function makeCells({ folder, atEnd }: Scene): Promise<void> {
  for (const cell of ['NORTH', 'SOUTH']) {
    const { url, drop } = await createTestDatabase();
    atEnd(drop);
    // Copies of one template are the same ledger.
    await runStatement(url, 'UPDATE ledger_location SET ledger = gen_random_uuid()');
    appendFileSync(join(folder, '.env'), `\n${cell}_READ_URL=${url}\n${cell}_WRITE_URL=${url}\n`);
  }
}

/** The latest run then has four requests in doubt. */
async function runWithDoubts({ folder, volley, failingSandbox }: Scene): Promise<void> {
  await volley('run campaigns/first.yaml --again', 3, { VOLLEY_SANDBOX_URL: failingSandbox });
  appendFileSync(join(folder, 'campaigns/accounts.yaml'), '    statusLookUp: on\n');
}

async function fixWorkbook(path: string): Promise<void> {
  const [header = [], ...rows] = (await readSheet(path)).map((row) => row.map((cell) => String(cell ?? '')));
  const wrong = header.indexOf('Volley Column');
  const fixed = rows.map((row, index) =>
    row.map((cell, column) => (header[column] === row[wrong] ? `+614123${10_000 + index}` : cell)),
  );
  writeFileSync(path, await workbookOf(sheetData(header, ...fixed)));
}

/** Such as `2026-11`, so many months from now in Auckland, which the pages name. */
function month(later: number): string {
  const today = Temporal.Now.plainDateISO('Pacific/Auckland').toPlainYearMonth();
  return today.add({ months: later }).toString();
}
/**
 * A folder like a user's clone with installed packages, including uncommitted changes.
 *
 * @param folder must not exist
 */
function makeFreshClone(folder: string): void {
  if (existsSync(join(projectFolder, '.git'))) cloneInto(folder);
  else copyInto(folder);
  symlinkSync(join(projectFolder, 'node_modules'), join(folder, 'node_modules'));
}

function cloneInto(folder: string): void {
  git('clone', '--quiet', projectFolder, folder);
  const changed = (option: string): string[] =>
    git('-C', projectFolder, 'ls-files', '-z', '--exclude-standard', option).split('\0').filter(Boolean);
  const deleted = new Set(changed('--deleted'));
  for (const path of deleted) rmSync(join(folder, path), { force: true });
  for (const path of [...changed('--modified'), ...changed('--others')].filter(
    (each) => !deleted.has(each),
  )) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(projectFolder, path), join(folder, path));
  }
}

/** For a project from an archive. */
function copyInto(folder: string): void {
  const excluded = ['node_modules', '.volley'];
  cpSync(projectFolder, folder, { recursive: true, filter: (path) => !excluded.includes(basename(path)) });
}

function git(...words: readonly string[]): string {
  return execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
