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
import { copyHome, removeHome, throwAwayOptions } from '../support/embedded-home.ts';
import { makeFreshClone } from '../support/fresh-clone.ts';
import { readJournal } from '../support/journal.ts';
import { volleyInProcess } from '../support/volley.ts';
import { openTypist, type Typist } from './typist.ts';
import { endsOtherwise, notRun } from './walkthrough.ts';

/** A user reads README and then docs/ in a fresh clone, and types every command, with one ledger and one service. */
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
  // The server that `init` would start, except that it flushes nothing to disk.
  ({ release } = await leaseEmbeddedServer(at('.volley'), throwAwayOptions));
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

/** After some lines the reader looks up the new run, or fixes the rejected contacts. */
async function followUp(text: string): Promise<void> {
  if (/^(npx --no-install )?volley run /.test(text)) {
    const { stdout } = await volleyInProcess(['runs', '--json', '--limit', '1'], {
      cwd: clone,
      env: reader.env,
    });
    reader.replacements.set('<run>', JSON.parse(stdout).run);
    const [request] = await readJournal(at('requests.jsonl'));
    reader.replacements.set('<address>', request?.recipients[0] ?? '');
  }
  const [, file] = /--rejected --out (\S+)/.exec(text) ?? [];
  if (file !== undefined) fixContacts(at(file));
}

function fixContacts(path: string): void {
  const rows: Record<string, string>[] = parse(readFileSync(path, 'utf8'), { columns: true });
  const fixed = rows.map((row, index) => ({
    ...row,
    [row['Volley Column'] ?? '']: `+614123${10_000 + index}`,
  }));
  writeFileSync(path, stringify(fixed, { header: true }));
}

describe('every command of a document works as written, in a fresh clone and in reading order', () => {
  test.each(documentPaths)(
    '%s',
    async (path) => {
      const wrong: unknown[] = [];
      for (const piece of linesOf(path).filter((line) => !isNotRun(line))) {
        const { code, stderr } = await reader.type(piece.text);
        const codes = endsOtherwise.find(([line]) => line.test(piece.text))?.[1] ?? [0];
        if (!codes.includes(code ?? -1)) wrong.push({ ...piece, code, stderr });
        else await followUp(piece.text);
      }
      expect(wrong).toEqual([]);
      // The pages after README expect it to run.
      if (path === 'README.md') await reader.type('volley serve');
    },
    120_000,
  );
});

test('every exception of the walkthrough still matches a line', () => {
  const lines = documentPaths.flatMap(linesOf);
  const idle = [...notRun, ...endsOtherwise].filter(([line]) => !lines.some(({ text }) => line.test(text)));
  expect(idle).toEqual([]);
});

test('the receiver and the sandbox answer every path of theirs that a document names', async () => {
  const receiver = reader.replacements.get('http://127.0.0.1:8026') ?? '';
  for (const path of ['/healthz', '/readyz', '/metrics'])
    expect([path, (await fetch(receiver + path)).status]).toEqual([path, 200]);

  const sandbox = reader.env['VOLLEY_SANDBOX_URL'] ?? '';
  const ask = async (method: string, path: string): Promise<string> => {
    const answer = await fetch(sandbox + path, { method, headers: { authorization: 'Basic any' } });
    return `${answer.status} ${await answer.text()}`;
  };
  const named = inlineCodesOf('docs/reference/sandbox.md').flatMap(({ text }) => {
    const [, method = '', path = ''] = /^(GET|POST|PATCH) (\/\S+)$/.exec(text) ?? [];
    return path === '' ? [] : variantsOf(path).map((each) => ({ method, path: each }));
  });
  expect(named.length).toBeGreaterThan(8);
  for (const { method, path } of named)
    expect([method, path, await ask(method, path)]).not.toEqual([
      method,
      path,
      await ask(method, '/api/v2.02/nowhere'),
    ]);
});

test('docs/reference/metrics.md explains every metric, and no other', async () => {
  const answer = await fetch(`${reader.replacements.get('http://127.0.0.1:8026')}/metrics`);
  const text = await answer.text();
  const there = new Set([...text.matchAll(/^# HELP (volley_\w+)/gm)].map(([, name = '']) => name));
  const explained = new Set(
    inlineCodesOf('docs/reference/metrics.md').flatMap(
      ({ text: code }) => /^volley_[a-z_]+(?=$|\{)/.exec(code)?.[0] ?? [],
    ),
  );
  expect([...explained].toSorted()).toEqual([...there].toSorted());
});

/** `/send/{email|sms}` stands for two paths, `{MessageID}` for any. */
function variantsOf(path: string): string[] {
  const [whole, inner = ''] = /\{([^}]*)\}/.exec(path) ?? [];
  if (whole === undefined) return [path];
  const choices = inner.includes('|') ? inner.split('|') : ['a1b2c3'];
  return choices.flatMap((choice) => variantsOf(path.replace(whole, choice)));
}
