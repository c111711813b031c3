import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { stringify } from 'csv-stringify/sync';
import { beforeEach, expect, test } from 'vitest';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import type { Ended } from '../support/volley.ts';
import { type Cell, cell, number, sheetData, workbookOf } from '../support/workbooks.ts';
import { contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

const scene = useSandboxScene({
  'campaign.yaml': smsCampaignYaml,
  'piped.yaml': smsCampaignYaml.replace('contacts.csv', '"-"'),
});

const header = ['mobile', 'name', 'code', 'due', 'amount'];

/** What the cells of `listedCells` show. */
const listed = [
  ['0412000001', 'Ann', 'C1', '2026-11-23', '$1,234.50'],
  ['0412000002', 'Zoë "the <b>&"', '0042', '2026-11-24', '$0.07'],
  ['0412000001', 'Ann again', 'C1', '2026-11-23', '$1.00'],
  ['', 'nobody', 'C2', '', ''],
  ['0412', 'Bob, short', 'C2', '', ''],
  ['0412000004', '日本 🎉', 'C2', '2026-12-31', '$2.00'],
  // The campaign does not use the faulty column.
  ['0412000005', 'Eve', 'C2', '#N/A', ''],
];

/** The style 1 shows ten digits, 2 four, 3 money, and 4 is a date by the user's country. */
const formats = ['0000000000', '0000', '"$"#,##0.00'];
const [ten, four, money, date] = [1, 2, 3, 4];
const listedCells: readonly (readonly Cell[])[] = [
  [number(412000001, ten), 'Ann', 'C1', number(46349, date), number(1234.5, money)],
  ['0412000002', 'Zoë "the <b>&"', number(42, four), number(46350, date), number(0.07, money)],
  [number(412000001, ten), 'Ann again', 'C1', number(46349, date), number(1, money)],
  [null, 'nobody', 'C2'],
  ['0412', 'Bob, short', 'C2'],
  ['0412000004', '日本 🎉', 'C2', number(46387, date), number(2, money)],
  ['0412000005', 'Eve', 'C2', cell('<c t="e"><f>VLOOKUP(1,A:B,2)</f><v>#N/A</v></c>')],
];

const listedWorkbook = (): Promise<Buffer> =>
  workbookOf(sheetData(header, ...listedCells), { formats, builtIn: [14] });

const call = (...words: string[]): Promise<Ended> => scene.command(words);

beforeEach(async () => {
  await scene.write('contacts.csv', stringify([header, ...listed]));
  await scene.write('list.xlsx', await listedWorkbook());
});

async function planned(...words: string[]): Promise<object> {
  const { code, stdout, stderr } = await call('plan', 'campaign.yaml', '--json', ...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { files: _, rejected, ...plan } = JSON.parse(stdout);
  // A line of CSV is the row of a sheet with the same number.
  const withoutFiles = JSON.stringify({ ...plan, rejected }).replaceAll(/"file":"[^"]*"/g, '"file":""');
  return JSON.parse(withoutFiles);
}

test('a workbook and a CSV file with the same rows make the same plan', async () => {
  expect(await planned('--contacts', 'list.xlsx')).toEqual(await planned());
});

test('a workbook and a CSV file with the same rows make the same run', async () => {
  const results = [];
  for (const file of ['contacts.csv', 'list.xlsx']) {
    const before = (await scene.journal()).length;
    const { stdout } = await call('run', 'campaign.yaml', '--contacts', file, '--json');
    const { run, campaign, ...counts } = JSON.parse(stdout);
    const sent = (await scene.journal()).slice(before);
    const report = await call('report', 'contacts', run, '--format', 'csv');
    results.push({
      counts,
      messages: sent.map(({ recipients }) => recipients),
      report: report.stdout.replaceAll(run, 'run').replaceAll(/[A-Z0-9]{30,}/gi, 'id'),
    });
  }
  const [fromCsv, fromWorkbook] = results;
  expect(fromWorkbook).toEqual(fromCsv);
  expect(fromCsv?.messages).toHaveLength(4);
});

test('plan shows which sheet was read, which were not, and how many hidden rows are contacts', async () => {
  const data = `${sheetData(['mobile', 'name', 'code'])}<row hidden="1"><c t="inlineStr"><is><t>0412000001</t></is></c></row>`;
  const sheets = [
    { name: 'Secret', state: 'hidden', data: sheetData(['x']) },
    { name: 'November list', data },
    { name: 'Notes', data: sheetData(['y']) },
  ];
  await scene.write('list.xlsx', await workbookOf({ sheets }));
  const { stdout } = await call('plan', 'campaign.yaml', '--contacts', 'list.xlsx');
  expect(stdout).toContain('list.xlsx (sheet "November list", with 1 hidden row; not read: "Notes")\n');
});

test('plan and run warn of the few cells that a spreadsheet made dates or numbers', async () => {
  const data = sheetData(
    ['mobile', 'name', 'code'],
    ['0412000001', 'Ann', '1-a'],
    [number(412000002), 'Bob', number(46419, 1)],
    ['0412000003', number(7), '1-c'],
    [number(412000004), number(8), '1-d'],
    ['0412000005', number(9), ''],
  );
  await scene.write('list.xlsx', await workbookOf(data, { formats: ['d-mmm'] }));
  const { stdout } = await call('plan', 'campaign.yaml', '--contacts', 'list.xlsx');
  const { stderr } = await call('run', 'campaign.yaml', '--contacts', 'list.xlsx');
  const warnings = stdout.match(/^ {2}warning .*$/gm);
  expect(stderr.match(/^ {2}warning .*$/gm)).toEqual(warnings);
  expect(warnings).toEqual([
    '  warning     2 of 5 cells of "mobile" are numbers, which have lost any zeros before them; see list.xlsx:Sheet1!A3',
    '  warning     1 of 4 cells of "code" is a date, as spreadsheets make of codes; see list.xlsx:Sheet1!C3',
  ]);
});

test('a campaign names its sheet, and a wrong name is refused with the others', async () => {
  const sheets = [
    { name: 'Notes', data: sheetData(['text'], ['x']) },
    { name: 'List', data: sheetData(header, ...listedCells) },
  ];
  await scene.write('list.xlsx', await workbookOf({ sheets }, { sheets, formats, builtIn: [14] }));
  const named = (sheet: string): Promise<void> =>
    scene.write('campaign.yaml', smsCampaignYaml.replace('contacts.csv', `list.xlsx\n  sheet: ${sheet}`));
  await named('list');
  expect((await call('plan', 'campaign.yaml')).stdout).toContain('7 read: 4 to send to');
  await named('Lists');
  expect(await call('plan', 'campaign.yaml')).toMatchObject({
    code: 2,
    stderr:
      'list.xlsx: There is no sheet "Lists" ("contacts.sheet"). Did you mean "List"? The sheets are "Notes", "List".\n',
  });
});

test('rejected contacts go into a workbook, are fixed there, and run from it', async () => {
  await scene.write(
    'list.xlsx',
    await workbookOf(
      sheetData(
        ['mobile', 'name', 'code'],
        ...[1, 2, 4].map((digit) => [`041200000${digit}`, 'Ann', 'A']),
        ['eve', '=Eve', '0042'],
        ['0412000003', cell('<c t="e"><v>#REF!</v></c>'), 'A'],
      ),
    ),
  );
  const { run } = JSON.parse(
    (await call('run', 'campaign.yaml', '--contacts', 'list.xlsx', '--json')).stdout,
  );
  expect(
    (await call('report', 'contacts', run, '--state', 'invalid,suppressed', '--out', 'left-out.xlsx')).code,
  ).toBe(0);
  // The campaign's own settings are for its own file.
  await scene.write(
    'campaign.yaml',
    smsCampaignYaml.replace('contacts.csv', 'contacts.csv\n  sheet: List\n  skipLines: 3'),
  );
  const again = await call('plan', 'campaign.yaml', '--contacts', 'left-out.xlsx', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({
    contacts: { read: 2, invalid: 1 },
    rejected: [{ line: 2, column: 'mobile', detail: '"eve" is not a phone number' }],
    recipients: 1,
  });
});

test('rejected rows name their cells', async () => {
  const yaml = smsCampaignYaml.replace('  country', '  maxInvalid: 0\n  country');
  await scene.write('campaign.yaml', yaml);
  await scene.write(
    'list.xlsx',
    await workbookOf(
      sheetData(
        ['name', 'code', 'mobile'],
        ['Ann', 'A', '0412000001'],
        ['Bob', 'A', number(4120)],
        ['Cid', cell('<c><f>1+1</f></c>'), '0412000002'],
      ),
    ),
  );
  const { code, stderr } = await call('plan', 'campaign.yaml', '--contacts', 'list.xlsx');
  expect(code).toBe(2);
  expect(stderr).toContain(
    'list.xlsx:Sheet1!C3: "4120" is not a number in use in AU; its cell is a number, so leading zeros are lost: format the column as text, and enter the zeros again.\n',
  );
  expect(stderr).toContain(
    'list.xlsx:Sheet1!B4: the cell B4 is a formula without a stored result: open the workbook in the spreadsheet program and save it.\n',
  );
});

test('a workbook comes from standard input, and no copy of it stays', async () => {
  const before = await readdir(tmpdir());
  const { code, stdout } = await scene.command(['plan', 'piped.yaml'], { input: await listedWorkbook() });
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('7 read: 4 to send to'),
  });
  expect(stdout).toContain('standard input (sheet "Sheet1")');
  const added = (await readdir(tmpdir())).filter((name) => !before.includes(name));
  expect(added.filter((name) => /^volley-(?!test)/.test(name))).toEqual([]);
});

test('a file of suppressed addresses and an invoice can be workbooks', async () => {
  await scene.write('contacts.csv', contactsCsv(2));
  await scene.write(
    'stop.xlsx',
    await workbookOf(sheetData(['Mobile'], [number(412000001, 1)]), { formats }),
  );
  expect(
    await call('suppress', 'import', 'stop.xlsx', '--channel', 'sms', '--country', 'AU', '--json'),
  ).toMatchObject({ code: 0, stdout: expect.stringContaining('"added":1') });
  const { run } = JSON.parse((await call('run', 'campaign.yaml', '--json')).stdout);
  expect(JSON.parse((await call('status', run, '--json')).stdout).contacts.suppressed).toBe(1);

  const [line] = (await scene.journal()).slice(-1);
  const invoice = [
    ['MessageID', 'Destination', 'Price'],
    [line?.messageId ?? '', line?.recipients[0] ?? '', number(0.05, 1)],
    ['other', '+61412000009', cell('<c t="e"><v>#N/A</v></c>')],
  ];
  await scene.write('invoice.xlsx', await workbookOf(sheetData(...invoice), { formats: ['0.0000'] }));
  const reconcile = ['billing', 'reconcile', '--invoice', 'invoice.xlsx', '--from', '2020-01-01'];
  expect((await call(...reconcile)).stderr).toContain(
    'invoice.xlsx:Sheet1!C3: The line cannot be read: the cell C3 is #N/A, an error value: fix the sheet.',
  );
});

test('a workbook that has run is not new for a pattern, and nor is the same message for its contacts', async () => {
  await scene.write('inbox/list.xlsx', await listedWorkbook());
  const pattern = smsCampaignYaml
    .replace('contacts.csv', 'inbox/*.xlsx')
    .replace('campaign: test', 'campaign: inbox');
  await scene.write('campaign.yaml', pattern);
  expect((await call('run', 'campaign.yaml')).code).toBe(0);
  expect((await call('run', 'campaign.yaml')).stderr).toContain(
    'All 1 files that match have been run before.',
  );
  await scene.write(
    'campaign.yaml',
    pattern.replace('inbox/*.xlsx', 'contacts.csv').replace(', repeat: allow', ''),
  );
  expect(await call('run', 'campaign.yaml')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has the same message for the same contacts'),
  });
});
