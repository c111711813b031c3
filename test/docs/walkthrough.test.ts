import { appendFileSync, chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { blocksOf, documentPaths, inlineCodesOf, type Piece, shellLinesOf } from '../support/documents.ts';
import { copyHome, removeHome, throwAway } from '../support/embedded-home.ts';
import { makeFreshClone } from '../support/fresh-clone.ts';
import { readJournal } from '../support/journal.ts';
import { volleyInProcess } from '../support/volley.ts';
import { openTypist, type Typist } from './typist.ts';
import { endsOtherwise, notRun } from './walkthrough.ts';

/** A user reads README and then docs/, in a fresh clone, and types what stands there: with one ledger and one service. */
let clone = '';
let release: () => Promise<void> = async () => undefined;
const token = 'f'.repeat(48);
let reader: Typist;

const at = (path: string): string => join(clone, path);

beforeAll(async () => {
  clone = join(await mkdtemp(join(tmpdir(), 'volley-test-')), 'volley');
  makeFreshClone(clone);
  const { PATH = '', HOME = '' } = process.env;
  reader = openTypist(clone, { PATH, HOME, VOLLEY_AUTH_TOKEN: token, VOLLEY_WEBHOOK_TOKEN: token });
  chmodSync(join(clone, '..'), 0o711);
  copyHome(inject('initialHome'), at('.volley'));
  // The same server that `init` would start, but for what it flushes to disk.
  ({ release } = await leaseEmbeddedServer(at('.volley'), throwAway));
  const [campaign, account] = blocksOf('README.md').filter(({ language }) => language === 'yaml');
  writeFileSync(at('campaigns/first.yaml'), campaign?.text ?? '');
  appendFileSync(at('campaigns/accounts.yaml'), account?.text.replace(/^accounts:\n/, '') ?? '');
  writeFileSync(at('campaigns/payroll.csv'), 'mobile,name\n+61412345678,Ann\n');
  writeFileSync(
    at('campaigns/payroll.yaml'),
    'campaign: payroll\naccount: sandbox\nchannel: sms\ncontacts: { file: payroll.csv }\nmessage: { Message: Paid }\n',
  );
  const contacts = readFileSync(at('campaigns/contacts/au-500.csv'), 'utf8');
  writeFileSync(at('export.csv.gz'), gzipSync(contacts.split('\n').slice(0, 5).join('\n')));
  writeFileSync(at('november.csv'), 'MessageID,Recipient,Price\n');
  writeFileSync(at('november.csv.gz'), gzipSync('Our ref,Recipient,Total cost\n'));
  writeFileSync(at('opted-out.csv'), 'email\nann@example.org\n');
});

afterAll(async () => {
  await reader[Symbol.asyncDispose]();
  await release();
  await removeHome(at('.volley'));
  rmSync(join(clone, '..'), { recursive: true, force: true });
});

const linesOf = (path: string): Piece[] =>
  blocksOf(path)
    .filter(({ language }) => language === 'sh' || language === 'cron')
    .flatMap(shellLinesOf);

const isNotRun = ({ text }: Piece): boolean => notRun.some(([line]) => line.test(text));

/** What a reader does after some lines: looks at the run, mends what was left out. */
async function goOnAfter(text: string): Promise<void> {
  if (/^npx volley run /.test(text)) {
    const { stdout } = await volleyInProcess(['runs', '--json', '--limit', '1'], {
      cwd: clone,
      env: reader.env,
    });
    reader.inPlaceOf.set('<run>', JSON.parse(stdout).run);
    const [request] = await readJournal(at('requests.jsonl'));
    reader.inPlaceOf.set('<address>', request?.recipients[0] ?? '');
  }
  const [, file] = /--rejected --out (\S+)/.exec(text) ?? [];
  if (file !== undefined) mend(at(file));
}

function mend(path: string): void {
  const rows: Record<string, string>[] = parse(readFileSync(path, 'utf8'), { columns: true });
  const mended = rows.map((row, place) => ({
    ...row,
    [row['Volley Column'] ?? '']: `+614123${10_000 + place}`,
  }));
  writeFileSync(path, stringify(mended, { header: true }));
}

describe('from a fresh clone, in the order in which it is read, works as written', () => {
  test.each(documentPaths)(
    '%s',
    async (path) => {
      const wrong: unknown[] = [];
      for (const piece of linesOf(path).filter((line) => !isNotRun(line))) {
        const { code, stderr } = await reader.type(piece.text);
        const codes = endsOtherwise.find(([line]) => line.test(piece.text))?.[1] ?? [0];
        if (!codes.includes(code ?? -1)) wrong.push({ ...piece, code, stderr });
        else await goOnAfter(piece.text);
      }
      expect(wrong).toEqual([]);
      // The pages after README take it that this goes on.
      if (path === 'README.md') await reader.type('npx volley serve');
    },
    120_000,
  );
});

test('every exception is still of some line', () => {
  const lines = documentPaths.flatMap(linesOf);
  const idle = [...notRun, ...endsOtherwise].filter(([line]) => !lines.some(({ text }) => line.test(text)));
  expect(idle).toEqual([]);
});

test('every path of the receiver and of the sandbox that a document names is answered there', async () => {
  const receiver = reader.inPlaceOf.get('http://127.0.0.1:8026') ?? '';
  for (const path of ['/healthz', '/readyz', '/metrics'])
    expect([path, (await fetch(receiver + path)).status]).toEqual([path, 200]);

  const sandbox = reader.env['VOLLEY_SANDBOX_URL'] ?? '';
  const ask = async (method: string, path: string): Promise<string> => {
    const answer = await fetch(sandbox + path, { method, headers: { authorization: 'Basic any' } });
    return `${answer.status} ${await answer.text()}`;
  };
  const named = inlineCodesOf('docs/sandbox.md').flatMap(({ text }) => {
    const [, method = '', path = ''] = /^(GET|POST|PATCH) (\/\S+)$/.exec(text) ?? [];
    return path === '' ? [] : waysOf(path).map((each) => ({ method, path: each }));
  });
  expect(named.length).toBeGreaterThan(8);
  for (const { method, path } of named)
    expect([method, path, await ask(method, path)]).not.toEqual([
      method,
      path,
      await ask(method, '/api/v2.02/nowhere'),
    ]);
});

test('the metrics that the documents explain are those that there are', async () => {
  const answer = await fetch(`${reader.inPlaceOf.get('http://127.0.0.1:8026')}/metrics`);
  const text = await answer.text();
  const there = new Set([...text.matchAll(/^# HELP (volley_\w+)/gm)].map(([, name = '']) => name));
  const explained = new Set(
    inlineCodesOf('docs/operations.md').flatMap(
      ({ text: code }) => /^volley_[a-z_]+(?=$|\{)/.exec(code)?.[0] ?? [],
    ),
  );
  expect([...explained].toSorted()).toEqual([...there].toSorted());
});

/** `/send/{email|sms}` is two paths; `{MessageID}` is any. */
function waysOf(path: string): string[] {
  const [whole, inner = ''] = /\{([^}]*)\}/.exec(path) ?? [];
  if (whole === undefined) return [path];
  const choices = inner.includes('|') ? inner.split('|') : ['a1b2c3'];
  return choices.flatMap((choice) => waysOf(path.replace(whole, choice)));
}
