import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken } from '../../../src/engine/access/tokens.ts';
import { hiddenFields, signIn, type Visitor } from '../../support/dashboard-scene.ts';
import { scaled } from '../../support/examples.ts';
import { invoiceHeader } from '../../support/invoices.ts';
import { openTestLedger, type TestLedger } from '../../support/ledger.ts';
import { type Started, startVolley } from '../../support/volley.ts';
import { sheetData, workbookOf } from '../../support/workbooks.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let opened: TestLedger;
let workspace: Workspace;
let serve: Started;
let url: string;
let visitor: Visitor;
beforeAll(async () => {
  opened = await openTestLedger();
  workspace = await makeWorkspace({ 'accounts.yaml': 'accounts: {}\n' });
  serve = startVolley(['serve', '--no-receiver', '--no-worker', '--port', '0', '--api-port', '0'], {
    cwd: workspace.folder,
    env: { DATABASE_URL: opened.url, VOLLEY_HOME: `${workspace.folder}/.volley` },
  });
  await serve.waitForText('Dashboard: ');
  url = /^Dashboard: (\S+)\/$/m.exec(serve.stderrSoFar())?.[1] ?? '';
  const token = { name: 'reader', scope: 'read', owner: 'ann', accounts: null, expiresAt: null } as const;
  visitor = await signIn(url, await createToken(opened.context, token));
});
afterAll(async () => {
  serve.process.kill('SIGTERM');
  await serve.ended;
  await opened.close();
  await workspace[Symbol.asyncDispose]();
});

/** @returns the path of the page that compares it */
async function upload(name: string, bytes: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const form = new FormData();
  const { csrf = '' } = hiddenFields((await visitor.get('/billing/reconcile')).text);
  form.set('csrf', csrf);
  form.set('invoice', new Blob([bytes]), name);
  const headers = { origin: url, cookie: visitor.cookies() };
  const init = { method: 'POST', body: form, headers, redirect: 'manual' } as const;
  const answer = await fetch(`${url}/billing/reconcile`, init);
  expect(answer.status).toBe(303);
  return answer.headers.get('location') ?? '';
}

/** In megabytes, since the process began. */
function peakMemory(): number {
  const status = readFileSync(`/proc/${serve.process.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

function threads(): number {
  const folder = `/proc/${serve.process.pid}/task`;
  const names = readdirSync(folder).map((task) => readFileSync(`${folder}/${task}/comm`, 'utf8'));
  return names.filter((name) => name === 'invoice\n').length;
}

/** Milliseconds of the slowest answer of `/healthz` meanwhile. */
async function slowestHealth(work: Promise<unknown>): Promise<number> {
  let [slowest, isOver] = [0, false];
  const over = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const begun = performance.now();
    await (await fetch(`${url}/healthz`)).text();
    slowest = Math.max(slowest, performance.now() - begun);
    await sleep(20);
  }
  await over;
  return slowest;
}

/** Of 4.4 MB each; a workbook may unpack to 64 MB. */
const pieces = scaled(20, 98);

test(`two workbooks that unpack to ${Math.round(pieces * 4.4)} MB each are refused in little memory`, async () => {
  const before = peakMemory();
  const strings = async function* (): AsyncGenerator<string> {
    yield '<sst>';
    const texts = Array.from({ length: 30_000 }, (_, index) => `<si><t>${index}${'x'.repeat(128)}</t></si>`);
    for (let piece = 0; piece < pieces; piece++) yield texts.join('');
    yield '</sst>';
  };
  const row = ['MessageID', 'Destination', 'Price'];
  const bytes = await workbookOf(sheetData(row, row), { parts: { 'xl/sharedStrings.xml': strings() } });
  const sent = new Uint8Array(bytes);
  const pages = [await upload('a.xlsx', sent), await upload('b.xlsx', sent)];
  let answers: readonly string[] = [];
  const asking = async (): Promise<void> => {
    answers = await Promise.all(pages.map(async (page) => (await visitor.get(page)).text));
  };
  const slowest = await slowestHealth(asking());
  for (const answer of answers) expect(answer).toMatch(/The workbook expands|larger than 64 MB/);
  expect(peakMemory()).toBeLessThan(600);
  process.stderr.write(
    `${(bytes.length / 1e6).toFixed(1)} MB sent; memory from ${before.toFixed(0)} to ${peakMemory().toFixed(0)} MB; /healthz at most ${slowest.toFixed(0)} ms\n`,
  );
});

test('a workbook that needs more memory than a page may use is refused', async () => {
  const relations = Array.from(
    { length: 800_000 },
    (_, index) => `<Relationship Id="${index}" Type="t${index}" Target="p${index}"/>`,
  );
  const parts = { 'xl/_rels/workbook.xml.rels': `<Relationships>${relations.join('')}</Relationships>` };
  const page = await upload('a.xlsx', new Uint8Array(await workbookOf('', { parts })));
  expect((await visitor.get(page)).text).toContain('It needs more memory than a page may use.');
  expect(peakMemory()).toBeLessThan(600);
});

const lines = (size: number) => `${invoiceHeader}\n${'M1,+64211234567,0.05,1\n'.repeat(size / 23)}`;

test('an invoice that is read ends with its browser', async () => {
  const page = await upload('large.csv', lines(10_000_000));
  const leaving = new AbortController();
  const headers = { cookie: visitor.cookies() };
  const asking = fetch(`${url}${page}`, { headers, signal: leaving.signal }).catch(() => undefined);
  const copying = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY invoice_lines%'`;
  const findCopy = async (): Promise<number | undefined> =>
    (await opened.ledger.pool.query<{ pid: number }>(copying)).rows[0]?.pid;
  await expect.poll(findCopy, { timeout: 30_000 }).toBeDefined();
  const pid = await findCopy();
  if (pid === undefined) throw new Error('the invoice is not copied any more');
  // The ledger takes nothing more, so the thread would wait for ever.
  process.kill(pid, 'SIGSTOP');
  try {
    expect(threads()).toBe(1);
    leaving.abort();
    await asking;
    await expect.poll(threads, { timeout: 20_000 }).toBe(0);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await expect.poll(findCopy, { timeout: 20_000 }).toBeUndefined();
});

/** A page takes 32 MB. */
const megabytes = scaled(3, 30);

test(`an invoice of ${megabytes} MB holds up no other call, and its memory is limited`, async () => {
  const page = await upload('large.csv', lines(megabytes * 1e6));
  let answer = '';
  const slowest = await slowestHealth(
    visitor.get(page).then(({ text }) => {
      answer = text;
    }),
  );
  expect(answer).toContain('Differences');
  expect(peakMemory()).toBeLessThan(600);
  process.stderr.write(`memory ${peakMemory().toFixed(0)} MB; /healthz at most ${slowest.toFixed(0)} ms\n`);
});
