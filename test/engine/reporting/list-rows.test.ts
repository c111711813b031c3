import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { planRun } from '../../../src/engine/plan/plan-run.ts';
import { prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { planRerun } from '../../../src/engine/plan/rerun.ts';
import { erasePerson } from '../../../src/engine/recipient-data/erase-person.ts';
import { findListRows, readListRow } from '../../../src/engine/reporting/list-rows.ts';
import { searchRecipient } from '../../../src/engine/reporting/recipient-report.ts';
import { cancel } from '../../../src/engine/runs/stop-run.ts';
import { inSnapshot } from '../../../src/ledger/session.ts';
import { anAccount } from '../../support/account.ts';
import { withKey } from '../../support/purges.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { accountsYaml, makeWorkspace, type Workspace } from '../../support/workspace.ts';

const opened = testLedger();

const campaign = `campaign: list
account: sandbox
channel: sms
contacts: { file: FILE, columns: { Recipient: mobile }, country: AU, duplicates: allow }
message: { Message: "Hello [[name]]" }
dispatch: { chunkSize: 10 }
`;

/** Its last piece has broken rows only, after rows enough. */
const appended = `mobile,name\n${'0412345677,Grace Hopper\n'.repeat(60_000)}${'from,another,Table\n'.repeat(40_000)}`;

/** Three pieces, with rows at their borders. */
const many = [
  'mobile,name,note',
  ...Array.from(
    { length: 30_000 },
    (_, row) =>
      `04120${String(row).padStart(5, '0')},Person ${row} Sur${row % 77},"note of ${row}, which is long: ${'x'.repeat(50)}"`,
  ),
].join('\r\n');

const odd =
  'mobile,name\n0412345671,Zoë Müller\n0412345672,"Ann\nSmith"\n0412345673,王小明\nnonsense,Left Out\n';

let workspace: Workspace;
const runs = new Map<string, string>();
beforeAll(async () => {
  workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'many.csv': many,
    'odd.csv': odd,
    'appended.csv': appended,
  });
  await workspace.write(
    'latin.csv',
    Buffer.from('mobile;name\n0412345674;J\u00f6rg Stra\u00dfe\n', 'latin1'),
  );
  await workspace.write('wide.csv', Buffer.from('\ufeffmobile,name\n0412345675,Wide Person\n', 'utf16le'));
  await workspace.write('packed.csv.gz', gzipSync('mobile,name\n0412345676,Packed Person\n'));
  for (const file of ['many.csv', 'odd.csv', 'latin.csv', 'wide.csv', 'packed.csv.gz', 'appended.csv']) {
    await workspace.write('campaign.yaml', campaign.replace('FILE', file));
    const settings = {
      workingFolder: workspace.folder,
      environment: {
        VOLLEY_ACCOUNTS: 'accounts.yaml',
        VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
        VOLLEY_SANDBOX_TOKEN: 'x',
      },
    };
    const prepared = await prepareCampaign('campaign.yaml', settings, { keeps: 'files' });
    runs.set(file, await planRun(opened.context, prepared));
  }
});
afterAll(() => workspace[Symbol.asyncDispose]());

const find = (text: string, accounts: readonly string[] | null = null, isOver = () => false) =>
  inSnapshot(opened.ledger.pool, (client) => findListRows(client, text, { accounts, limit: 5, isOver }));
const runOf = (file: string): string => runs.get(file) ?? '';

test.each([
  ['sur5 12325', 'many.csv', 12_327],
  ['person 0 sur0', 'many.csv', 2],
  ['SUR46 29999', 'many.csv', 30_001],
  ['müller zoë', 'odd.csv', 2],
  ['王小明', 'odd.csv', 5],
  ['left nonsense', 'odd.csv', 6],
  ['Jörg', 'latin.csv', 2],
  ['wide', 'wide.csv', 2],
  ['packed person', 'packed.csv.gz', 2],
])('words of a row find it in any encoding, and in a file that is packed: %s', async (text, file, row) => {
  const { rows, endedAt } = await find(text);
  expect(rows.map(({ run, row }) => [run, row])).toEqual([[runOf(file), row]]);
  expect(endedAt).toBeNull();
});

test('a row is found by whole words only, and by all of them', async () => {
  for (const text of ['mül', 'müller 王小明', '', '...', 'Person 31000'])
    expect((await find(text)).rows).toEqual([]);
});

test('every row at the border of a piece is found, and read by its line', async () => {
  const { rows: pieces } = await opened.ledger.pool.query(
    'SELECT lines_before FROM contact_file_pieces WHERE run_id = $1 AND piece > 0',
    [runOf('many.csv')],
  );
  expect(pieces.length).toBeGreaterThan(2);
  for (const { lines_before: before } of pieces) {
    for (const row of [before, before + 1, before + 2]) {
      const values = { mobile: `04120${String(row - 2).padStart(5, '0')}` };
      const read = await inSnapshot(opened.ledger.pool, (client) =>
        readListRow(client, runOf('many.csv'), row, () => false),
      );
      expect(read).toMatchObject({ row, values });
      expect((await find(values.mobile)).rows).toMatchObject([{ row, values }]);
    }
  }
});

test('a piece of which most rows are broken ends no search', async () => {
  expect(await find('another table')).toEqual({ rows: [], endedAt: null });
});

test('a row of several lines is read whole', async () => {
  const read = await inSnapshot(opened.ledger.pool, (client) =>
    readListRow(client, runOf('odd.csv'), 3, () => false),
  );
  expect(read?.values).toEqual({ mobile: '0412345672', name: 'Ann\nSmith' });
});

test('only files of the given accounts are searched, and only until the time is over', async () => {
  expect((await find('wide', ['other'])).rows).toEqual([]);
  const { endedAt } = await find('person', null, () => true);
  expect(endedAt).toBeInstanceOf(Date);
});

test('a search by words finds recipients with their state, and rows that were left out', async () => {
  const search = (text: string) => searchRecipient(opened.context, text, { limit: 5, wordsTime: 10_000 });
  expect((await search('zoë müller')).histories).toMatchObject([
    { address: '+61412345671', state: 'pending' },
  ]);
  expect(await search('left out')).toMatchObject({ histories: [], rows: [{ row: 6 }] });
  const refused = await searchRecipient(opened.context, 'zoë müller', { limit: 5 });
  expect(refused).toMatchObject({ histories: [], readings: [{ kind: 'chargeCode' }] });
});

test('a rerun of one row has its recipient only, and a second one is refused', async () => {
  const { pool } = opened.ledger;
  const of = runOf('odd.csv');
  await cancel(opened.context, of, 'test');
  const rerun = { of, states: ['cancelled'], row: 3, account: anAccount({ rates: [] }) } as const;
  const again = await planRerun(opened.context, rerun);
  const { rows } = await pool.query('SELECT address FROM recipient_states WHERE run_id = $1', [again]);
  expect(rows).toEqual([{ address: '+61412345672' }]);
  await expect(planRerun(opened.context, rerun)).rejects.toThrow(
    'The recipient of row 3 is not cancelled any more, is suppressed, or has been sent to by another rerun.',
  );
});

test('a file of several pieces is searched and read piece by piece after a person in it is erased', async () => {
  const run = runOf('many.csv');
  await cancel(opened.context, run, 'test');
  await erasePerson(withKey(opened), '+61412029000', 'asked');
  expect((await find('Person 29000')).rows).toEqual([]);
  const values = { mobile: '0412027998', name: 'Person 27998 Sur47' };
  expect((await find('Person 27998')).rows).toMatchObject([{ row: 28_000, values }]);
  const read = await inSnapshot(opened.ledger.pool, (client) =>
    readListRow(client, run, 28_000, () => false),
  );
  expect(read).toMatchObject({ row: 28_000, values });
  const unread = await opened.ledger.pool.query(
    'SELECT piece FROM contact_file_pieces WHERE run_id = $1 AND (words IS NULL OR lines_before IS NULL)',
    [run],
  );
  expect(unread.rows).toEqual([]);
});

test('an erased person is not found, also after a process of an earlier version wrote the piece', async () => {
  const { pool } = opened.ledger;
  const run = runOf('latin.csv');
  await cancel(opened.context, run, 'test');
  const data = await pool.query('SELECT data FROM contact_file_pieces WHERE run_id = $1', [run]);
  await erasePerson(withKey(opened), '+61412345674', 'asked');
  expect((await find('Jörg')).rows).toEqual([]);
  const filter = await pool.query('SELECT words FROM contact_file_pieces WHERE run_id = $1', [run]);
  expect(filter.rows[0].words).not.toBeNull();
  await pool.query('UPDATE contact_file_pieces SET data = $2 WHERE run_id = $1', [run, data.rows[0].data]);
  const rewritten = await pool.query(
    'SELECT words, lines_before FROM contact_file_pieces WHERE run_id = $1',
    [run],
  );
  expect(rewritten.rows).toEqual([{ words: null, lines_before: null }]);
  expect((await find('Jörg')).rows).toHaveLength(1);
});

test('a search says up to which run it read, where more pieces than it reads may have the words', async () => {
  const { pool } = opened.ledger;
  expect((await find('Ann 0412345671')).endedAt).toBeNull();
  await pool.query(
    `
    INSERT INTO contact_file_pieces (run_id, file, piece, data, lines_before, words)
    SELECT run_id, file, number, data, 10, words FROM contact_file_pieces, generate_series(1, 2000) AS number
    WHERE run_id = $1
    `,
    [runOf('odd.csv')],
  );
  expect(await find('Ann 0412345671')).toEqual({ rows: [], endedAt: expect.any(Date) });
});
