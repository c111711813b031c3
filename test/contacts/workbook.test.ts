import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { cellFault } from '../../src/contacts/cell-notes.ts';
import { openContactFile, type ReadingOptions, type Row } from '../../src/contacts/contact-file.ts';
import { resultFileColumns } from '../../src/domain/files.ts';
import { InputError } from '../../src/domain/problems.ts';
import { bytesOf } from '../support/bytes.ts';
import { collectBatches } from '../support/collect.ts';
import { liveHeap } from '../support/live-heap.ts';
import { problemsRejected } from '../support/thrown-problems.ts';
import {
  type Cell,
  cell,
  number,
  sheetData,
  type WorkbookOptions,
  workbookOf,
  zipOf,
} from '../support/workbooks.ts';

async function read(content: Buffer, options: ReadingOptions = {}, name = 'list.xlsx') {
  const file = await openContactFile(bytesOf(content, 50_000), name, options);
  const rows = await collectBatches(file.batches);
  return { header: file.header, rows, format: file.format(), lines: file.lines() };
}

const valuesOf = (rows: readonly Row[]) =>
  rows.map((row) => (row.kind === 'row' ? row.values : [row.detail]));

/** The values of the rows below the header `a, b, …`. */
const problems = (content: Buffer, options?: ReadingOptions, name?: string) =>
  problemsRejected(() => read(content, options, name));

async function values(rows: readonly (readonly Cell[])[], options?: WorkbookOptions) {
  const width = Math.max(...rows.map(({ length }) => length));
  const header = Array.from({ length: width }, (_, index) => String.fromCharCode(97 + index));
  return valuesOf((await read(await workbookOf(sheetData(header, ...rows), options))).rows);
}

test('rows are read with their numbers, without empty ones', async () => {
  const { header, rows, lines } = await read(
    await workbookOf(
      '<row r="2"><c r="A2" t="inlineStr"><is><t> mobile </t></is></c><c r="B2" t="inlineStr"><is><t>name</t></is></c></row>' +
        '<row r="3"><c r="A3" s="0"/></row>' +
        '<row r="5"><c r="B5" t="inlineStr"><is><t>Ann</t></is></c></row>',
    ),
  );
  expect(header).toEqual(['mobile', 'name']);
  expect(rows).toEqual([{ kind: 'row', line: 5, values: ['', 'Ann'] }]);
  expect(lines).toBe(5);
});

describe('a cell is read as it is shown:', () => {
  test.each<[string, number | string, string]>([
    ['General', 412345678, '412345678'],
    ['General', 614123456789, '614123456789'],
    ['General', 0.30000000000000004, '0.3'],
    ['General', '6.1412345678E10', '61412345678'],
    ['@', 412345678, '412345678'],
    ['0000000000', 412345678, '0412345678'],
    ['"$"#,##0.00', 1234.5, '$1,234.50'],
    ['_-"$"* #,##0.00_-;-"$"* #,##0.00_-', 1234.5, '$1,234.50'],
    ['0%', 0.125, '13%'],
    ['dd/mm/yyyy', 45_000, '15/03/2023'],
    ['yyyy-mm-dd\\ hh:mm', 45_000.5, '2023-03-15 12:00'],
    ['[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy', 45_000, '2023-03-15'],
    ['h:mm AM/PM', 0.75, '6:00 PM'],
    ['[h]:mm', 1.5, '36:00'],
    ['0.00E+00', 61412345678, '6.14E+10'],
  ])('%s shows %s as %j', async (format, value, text) => {
    expect(await values([[number(value, 1)]], { formats: [format] })).toEqual([[text]]);
  });

  test.each<[number, number, string]>([
    [0, 2, '2'],
    [2, 2, '2.00'],
    [9, 0.5, '50%'],
    [14, 45_000, '2023-03-15'],
    [22, 45_000.5, '2023-03-15 12:00'],
    [44, -2, '($2.00)'],
    [57, 45_000, '2023-03-15'],
  ])('the built-in format %i shows %s as %j', async (format, value, text) => {
    expect(await values([[number(value, 1)]], { builtIn: [format] })).toEqual([[text]]);
  });
});

describe('a cell is text however a program writes it:', () => {
  const sharedStrings = [
    '<t>plain</t>',
    '<t xml:space="preserve"> kept  spaces </t>',
    '<r><rPr><b/></rPr><t>rich</t></r><r><t xml:space="preserve"> text</t></r>',
    '<t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh>',
    '<t>a_x000D_b _x005F_x000D_</t>',
    '<t/>',
    '<t><![CDATA[1 < 2]]> &amp;&#x20AC;</t>',
  ];
  test.each<[string, string, string]>([
    ['a shared text', '<c t="s"><v>0</v></c>', 'plain'],
    ['spaces', '<c t="s"><v>1</v></c>', ' kept  spaces '],
    ['rich text', '<c t="s"><v>2</v></c>', 'rich text'],
    ['a text with its pronunciation', '<c t="s"><v>3</v></c>', '東京'],
    ['characters that XML forbids', '<c t="s"><v>4</v></c>', 'a\rb _x000D_'],
    ['an empty text', '<c t="s"><v>5</v></c>', ''],
    ['references and CDATA', '<c t="s"><v>6</v></c>', '1 < 2 &€'],
    ['rich text in the cell', '<c t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r></is></c>', 'ab'],
    ['the text of a formula', '<c t="str"><f>A1&amp;"x"</f><v>ax</v></c>', 'ax'],
    ['the empty text of a formula', '<c t="str"><f>""</f><v></v></c>', ''],
    ['the number of a formula', '<c><f t="shared" si="0"/><v>42</v></c>', '42'],
    ['true', '<c t="b"><v>1</v></c>', 'TRUE'],
    ['false', '<c t="b"><f>1=2</f><v>0</v></c>', 'FALSE'],
    ['a date as text', '<c t="d"><v>2026-11-23</v></c>', '2026-11-23'],
    ['a cell with a comment and a prefix', '<!-- x --><x:c xmlns:x="y" t="n"><x:v>7</x:v></x:c>', '7'],
  ])('%s', async (_, xml, text) => {
    expect(await values([[cell(xml), 'end']], { sharedStrings })).toEqual([[text, 'end']]);
  });
});

test('texts of a header are found among many, and those of rows too', async () => {
  const sharedStrings = Array.from({ length: 30_000 }, (_, index) => `<t>text ${index}</t>`);
  const shared = (index: number) => cell(`<c t="s"><v>${index}</v></c>`);
  for (const index of [0, 29_999]) {
    const data = sheetData([shared(index)], ...Array.from({ length: 3 }, () => [shared(29_998)]));
    const { header, rows } = await read(await workbookOf(data, { sharedStrings }));
    expect(header).toEqual([`text ${index}`]);
    expect(valuesOf(rows)).toEqual([['text 29998'], ['text 29998'], ['text 29998']]);
  }
});

test('days are counted from 1904 where the workbook says so', async () => {
  const options = { formats: ['yyyy-mm-dd', '[h]:mm'], workbookPr: 'date1904="1"' };
  expect(await values([[number(43_538, 1), number(1.5, 2)]], options)).toEqual([['2023-03-15', '36:00']]);
});

test('a cell without a usable value is noted, and so are numbers and dates', async () => {
  const cells = [
    'text',
    number(412345678),
    number(45_000, 1),
    cell('<c t="e"><v>#REF!</v></c>'),
    cell('<c><f>NOW()</f></c>'),
    number('1.2345678901234567E+18'),
    number(-1, 1),
  ];
  const header = cells.map((_, index) => `c${index}`);
  const { rows } = await read(await workbookOf(sheetData(header, cells), { formats: ['yyyy-mm-dd'] }));
  const [row] = rows;
  if (row?.kind !== 'row') throw new Error('the row is broken');
  expect(cells.map((_, index) => row.notes?.[index]?.kind)).toEqual([
    ...[undefined, 'number', 'date', 'fault', 'fault', 'fault', 'fault'],
  ]);
  expect([3, 4, 5, 6].map((index) => cellFault(row, index))).toEqual([
    'the cell D2 is #REF!, an error value: fix the sheet',
    'the cell E2 is a formula without a stored result: open the workbook in the spreadsheet program and save it',
    'the cell F2 is the number 1.2345678901234567E+18: spreadsheets keep 15 digits, so its last digits are lost. Format the column as text, and enter the value again',
    'the cell G2 is the number -1, which its format cannot show',
  ]);
});

describe('rows and columns', () => {
  test('a value outside of the header breaks its row, and empty cells do not', async () => {
    const data = sheetData(['a', 'b'], ['1'], ['1', '2', ' '], ['1', '2', null, 'note'], ['1', '2']);
    const { rows } = await read(await workbookOf(data));
    expect(valuesOf(rows)).toEqual([
      ['1', ''],
      ['1', '2'],
      ['the cell D4 has a value, but column D has no name in the header'],
      ['1', '2'],
    ]);
  });

  test('a sheet whose rows are mostly outside of its header is refused', async () => {
    const data = sheetData(['a'], ['1', '2'], ['1', '2']);
    expect(await problems(await workbookOf(data))).toEqual([
      'list.xlsx: 2 of 2 rows are broken, so the file was probably read in the wrong format. Check the sheet ("contacts.sheet"; "Sheet1" was read) and the rows before its header ("contacts.skipLines"). The first broken rows:',
      'list.xlsx:Sheet1!A2: The cell B2 has a value, but column B has no name in the header.',
      'list.xlsx:Sheet1!A3: The cell B3 has a value, but column B has no name in the header.',
    ]);
  });

  test('rows before the header are skipped by their numbers', async () => {
    const data = `${sheetData(['My list'])}<row r="4"><c t="inlineStr"><is><t>a</t></is></c></row><row r="5"><c><v>1</v></c></row>`;
    expect(valuesOf((await read(await workbookOf(data), { skipLines: 3 })).rows)).toEqual([['1']]);
    expect(await problems(await workbookOf(data), { skipLines: 9 })).toEqual([
      'list.xlsx: The sheet has nothing after the 9 rows of "contacts.skipLines"; expected a row of column names.',
    ]);
  });

  test('a title above the header is refused with the number of rows to skip', async () => {
    const data = sheetData(['Customers'], ['mobile', 'name', 'code'], ['1', 'Ann', 'A'], ['2', 'Bob', 'B']);
    expect(await problems(await workbookOf(data))).toEqual([
      'list.xlsx:Sheet1!A1: This row looks like a title: row 2 below it has 3 column names. Skip the rows before that one with "contacts.skipLines: 1".',
    ]);
  });

  test('a header without a usable name is refused with its cell', async () => {
    const sheets = [{ name: "Ann's list", data: sheetData(['a', null, 'a', 'd'], ['1']) }];
    expect(await problems(await workbookOf({ sheets }))).toEqual([
      "list.xlsx:'Ann''s list'!B1: Column 2 has no name in the header line.",
      `list.xlsx:'Ann''s list'!C1: Columns 1 and 3 are both named "a"; give each its own name.`,
    ]);
    const formula = sheetData(['a', cell('<c><f>X1</f></c>')]);
    expect(await problems(await workbookOf(formula))).toEqual([
      'list.xlsx:Sheet1!B1: In the header, the cell B1 is a formula without a stored result: open the workbook in the spreadsheet program and save it.',
    ]);
    const wide = sheetData(Array.from({ length: 2_001 }, (_, index) => `c${index}`));
    expect((await problems(await workbookOf(wide)))[0]).toContain('The header has more than 2,000 columns');
  });

  test('of merged cells only the first has the value, as in CSV', async () => {
    const data = sheetData(['a', 'b'], ['1', 'x'], ['2', null]);
    const parts = {
      'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${data}</sheetData><mergeCells><mergeCell ref="B2:B3"/></mergeCells></worksheet>`,
    };
    expect(valuesOf((await read(await workbookOf('', { parts }))).rows)).toEqual([
      ['1', 'x'],
      ['2', ''],
    ]);
  });
});

describe('the sheet', () => {
  const sheets = [
    { name: 'Old', state: 'veryHidden', data: sheetData(['a'], ['old']) },
    { name: 'New', data: sheetData(['a'], ['new']) },
  ];

  test('the first visible sheet is read, and a hidden one when it is named', async () => {
    const workbook = await workbookOf({ sheets });
    expect(valuesOf((await read(workbook)).rows)).toEqual([['new']]);
    expect(valuesOf((await read(workbook, { sheet: ' old' })).rows)).toEqual([['old']]);
  });

  test('a workbook whose sheets are all hidden, and an empty sheet, are refused', async () => {
    expect(await problems(await workbookOf({ sheets: sheets.slice(0, 1) }))).toEqual([
      'list.xlsx: The workbook has no visible sheet with cells.',
    ]);
    expect(await problems(await workbookOf(''))).toEqual([
      'list.xlsx: The sheet is empty; expected a row of column names.',
    ]);
  });

  test('a result that continues on a second sheet is refused, because its rest would be lost', async () => {
    const data = sheetData(['mobile', ...resultFileColumns]);
    const continued = ['Contacts', 'Contacts 2', 'About'].map((name) => ({ name, data }));
    expect(await problems(await workbookOf({ sheets: continued }))).toEqual([
      'list.xlsx: The contacts continue on the sheet "Contacts 2", which would not be read. Write the report as CSV: `volley report contacts … --out left-out.csv`.',
    ]);
  });
});

describe('a file that is refused', () => {
  const sheet = (xml: string | Buffer) => ({ parts: { 'xl/worksheets/sheet1.xml': xml } });
  const laughs =
    '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b SYSTEM "file:///etc/passwd">]><worksheet>&b;</worksheet>';
  const data = sheetData(['a'], ['1']);

  test.each<[string, () => Promise<Buffer>, string]>([
    ['other zip', () => zipOf({ 'list.csv': 'a\n1\n' }), 'The file is compressed with zip. Decompress it'],
    ['text', () => zipOf({ 'word/document.xml': '<x/>' }), 'The file is a text document.'],
    ['ods', () => zipOf({ mimetype: 'x', 'content.xml': '<x/>' }), 'The file is an OpenDocument file'],
    ['xlsb', () => zipOf({ 'xl/workbook.bin': 'x' }), 'The file is a binary Excel workbook (xlsb).'],
    ['Numbers', () => zipOf({ 'Index/Document.iwa': 'x' }), 'The file is a document of Numbers'],
    ['document type', () => workbookOf('', sheet(laughs)), 'it contains a document type'],
    ['unknown entity', () => workbookOf(sheetData(['a', cell('<c>&xx;</c>')])), 'not well-formed XML'],
    ['cut sheet', () => workbookOf('', sheet('<worksheet><sheetData><row>')), 'not well-formed XML'],
    ['rows in disorder', () => workbookOf('<row r="2"/><row r="2"/>'), 'a row has the number 2 behind row 2'],
    ['row too far', () => workbookOf('<row r="1048577"/>'), 'a row has the number 1048577'],
    ['cells in disorder', () => workbookOf('<row><c r="B1"/><c r="A1"/></row>'), 'is not in order'],
    ['column too far', () => workbookOf('<row><c r="XFE1"/></row>'), 'is not in order'],
    [
      'no such text',
      () => workbookOf(sheetData([cell('<c t="s"><v>9</v></c>')])),
      'the text 9, which is missing',
    ],
    ['no number', () => workbookOf(sheetData([cell('<c><v>1x</v></c>')])), 'the number "1x", which is none'],
    [
      'no sheet part',
      () => workbookOf('', { parts: { 'xl/worksheets/sheet1.xml': undefined } }),
      'its part xl/worksheets/sheet1.xml is missing',
    ],
    ['deep', () => workbookOf('', sheet('<a>'.repeat(200))), 'nested more than 100 deep'],
    ['long text', () => workbookOf(sheetData(['x'.repeat(5_000_000)])), 'longer than any cell can be'],
    [
      'not UTF-8',
      () => workbookOf('', sheet(Buffer.from('<a>\xe9</a>', 'latin1'))),
      'it is not text in UTF-8 or UTF-16',
    ],
    ['bomb', async () => withPartSizes(await workbookOf(data), 70_000_000), 'expands more than 100 times'],
    ['wrong size', async () => withPartSizes(await workbookOf(data), 70_000), 'The workbook is damaged'],
    ['parts', async () => withPartCount(await workbookOf(data), 20_000), '20,000 parts, as no workbook does'],
  ])('%s', async (_, make, message) => {
    const found = await problems(await make());
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^list\.xlsx: The /);
    expect(found[0]).toContain(message);
  });

  /** In the record at the end. */
  function withPartCount(zip: Buffer, count: number): Buffer {
    zip.writeUInt16LE(count, zip.length - 14);
    zip.writeUInt16LE(count, zip.length - 12);
    return zip;
  }

  /** As the directory at the end names them. */
  function withPartSizes(zip: Buffer, size: number): Buffer {
    const entry = Buffer.from('PK\x01\x02');
    for (let at = zip.indexOf(entry); at >= 0; at = zip.indexOf(entry, at + 4))
      zip.writeUInt32LE(size, at + 24);
    return zip;
  }

  test('a workbook that was cut or damaged anywhere is refused', async () => {
    const rows = Array.from({ length: 500 }, (_, index) => [`value ${index}`]);
    const workbook = await workbookOf(sheetData(['a'], ...rows));
    const whole = await read(workbook);
    for (let at = 4; at < workbook.length; at += Math.ceil(workbook.length / 40)) {
      expect(await problems(workbook.subarray(0, at))).toEqual([
        'list.xlsx: The workbook ends too early. Check that it was copied completely.',
      ]);
      const changed = Buffer.from(workbook);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      // A changed byte can be one that is not used, such as a time.
      const outcome = await read(changed).catch((error: unknown) => error);
      if (outcome instanceof InputError) continue;
      expect(outcome).toEqual(whole);
    }
  });

  test('a file whose name does not fit its content is refused', async () => {
    expect(await problems(await workbookOf(data), {}, 'list.csv')).toEqual([
      'list.csv: The file is an Excel workbook (xlsx), and its name ends with .csv. Name it .xlsx, or open it in the spreadsheet program and save the sheet as "CSV UTF-8".',
    ]);
    expect(await problems(Buffer.from('a,b\n1,2\n'))).toEqual([
      'list.xlsx: The name of the file ends with .xlsx, but it is no workbook. If it is CSV, name it .csv; otherwise copy it again.',
    ]);
    expect(await problems(gzipSync(await workbookOf(data)))).toEqual([
      'list.xlsx: The workbook is compressed with gzip. Decompress it: a workbook is compressed anyway.',
    ]);
    const old = Buffer.from('d0cf11e0a1b11ae100000000', 'hex');
    expect((await problems(old))[0]).toContain('an old Excel workbook (xls), or a password protects it');
    const encrypted = Buffer.concat([old, Buffer.from('EncryptedPackage', 'utf16le')]);
    expect((await problems(encrypted))[0]).toContain('The workbook is protected by a password.');
    expect(valuesOf((await read(await workbookOf(data), {}, 'standard input')).rows)).toEqual([['1']]);
  });
});

test('a workbook needs a temporary folder, and says so', async () => {
  vi.stubEnv('TMPDIR', '/nowhere');
  try {
    expect(await problems(await workbookOf(sheetData(['a'])))).toEqual([
      'list.xlsx: The workbook cannot be copied to the temporary folder /nowhere (it does not exist). Free space there, or name another folder with TMPDIR.',
    ]);
  } finally {
    vi.unstubAllEnvs();
  }
});

test('a source that fails while its workbook is copied fails with its own error', async () => {
  const lost = Object.assign(new Error('read ECONNRESET'), { syscall: 'read' });
  async function* source(): AsyncGenerator<Buffer> {
    yield Buffer.concat([await workbookOf(sheetData(['a'])), Buffer.alloc(200_000)]);
    throw lost;
  }
  await expect(openContactFile(source(), 'list.xlsx', {})).rejects.toBe(lost);
});

test('memory does not grow with the rows of a sheet', async () => {
  const rows = 60_000;
  async function* sheet(): AsyncGenerator<string> {
    yield '<worksheet><sheetData>';
    for (let index = 0; index <= rows; index += 1_000)
      yield sheetData(
        ...Array.from({ length: 1_000 }, (_, each) => [`value ${index + each}`, 'x'.repeat(50)]),
      );
    yield '</sheetData></worksheet>';
  }
  const workbook = await workbookOf('', { parts: { 'xl/worksheets/sheet1.xml': sheet() } });
  const { batches } = await openContactFile(bytesOf(workbook, 50_000), 'list.xlsx');
  let early = 0;
  let peak = 0;
  let count = 0;
  for await (const batch of batches) {
    count += batch.length;
    const held = liveHeap();
    if (early === 0) early = held;
    peak = Math.max(peak, held);
  }
  expect(count).toBeGreaterThan(rows);
  expect(peak - early).toBeLessThan(8 * 1024 * 1024);
});

describe('workbooks of four programs', () => {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const relation = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const texts = '<si><t>mobile</t></si><si><t>due</t></si><si><t>0412000001</t></si>';
  const strings = `<sst xmlns="${main}" count="3" uniqueCount="3">${texts}</sst>`;
  const expected = [['0412000001', '23/11/2026']];
  /** The style 1 is a date. */
  const styles = (format: string, xfs = '<xf numFmtId="0"/><xf numFmtId="165" applyNumberFormat="1"/>') =>
    `<styleSheet xmlns="${main}"><numFmts count="1"><numFmt numFmtId="165" formatCode="${format}"/></numFmts><cellStyleXfs count="1"><xf numFmtId="9"/></cellStyleXfs><cellXfs count="2">${xfs}</cellXfs></styleSheet>`;

  test('Excel: many namespaces, spans, and parts after the rows', async () => {
    const sheet = `<worksheet xmlns="${main}" xmlns:r="${relation}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" mc:Ignorable="x14ac xr" xmlns:x14ac="http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac" xmlns:xr="http://schemas.microsoft.com/office/spreadsheetml/2014/revision" xr:uid="{0-0}"><dimension ref="A1:B2"/><sheetViews><sheetView tabSelected="1" workbookViewId="0"><selection activeCell="A1"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="15" x14ac:dyDescent="0.25"/><sheetData><row r="1" spans="1:2" x14ac:dyDescent="0.25"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2" spans="1:2" x14ac:dyDescent="0.25"><c r="A2" s="0" t="s"><v>2</v></c><c r="B2" s="1"><f>TODAY()</f><v>46349</v></c></row></sheetData><autoFilter ref="A1:B2"/><dataValidations count="1"><dataValidation sqref="A2"><formula1>"a,b"</formula1></dataValidation></dataValidations><legacyDrawing r:id="rId2"/><extLst><ext uri="{0}"><row xmlns=""><c><v>9</v></c></row></ext></extLst></worksheet>`;
    const parts = {
      'xl/worksheets/sheet1.xml': sheet,
      'xl/sharedStrings.xml': strings,
      'xl/styles.xml': styles('dd/mm/yyyy;@'),
    };
    expect(valuesOf((await read(await workbookOf('', { parts }))).rows)).toEqual(expected);
  });

  test('LibreOffice: words for flags, General as a format of its own, and rows that are only formatted', async () => {
    const sheet = `<worksheet xmlns="${main}"><sheetPr filterMode="false"/><cols><col collapsed="false" hidden="false" max="1" min="1" style="0" width="12"/></cols><sheetData><row r="1" customFormat="false" ht="12.8" hidden="false" customHeight="false" outlineLevel="0" collapsed="false"><c r="A1" s="0" t="s"><v>0</v></c><c r="B1" s="0" t="s"><v>1</v></c></row><row r="2" hidden="false"><c r="A2" s="0" t="s"><v>2</v></c><c r="B2" s="1" t="n"><v>46349</v></c></row><row r="3" hidden="true"><c r="A3" s="1"/></row></sheetData></worksheet>`;
    const parts = {
      'xl/worksheets/sheet1.xml': sheet,
      'xl/sharedStrings.xml': strings,
      'xl/styles.xml': styles('dd\\/mm\\/yyyy').replace(
        '<numFmt ',
        '<numFmt numFmtId="164" formatCode="General"/><numFmt ',
      ),
    };
    const { rows, format } = await read(await workbookOf('', { parts }));
    expect(valuesOf(rows)).toEqual(expected);
    expect(format).toMatchObject({ hiddenRows: 0 });
  });

  test('Google Sheets: cells up to the last formatted column, and results of its own functions', async () => {
    const empty = '<c r="C1" s="0"/><c r="D1" s="0"/>';
    const sheet = `<worksheet xmlns="${main}" xmlns:mx="http://schemas.microsoft.com/office/mac/excel/2008/main"><sheetData><row r="1"><c r="A1" s="0" t="s"><v>0</v></c><c r="B1" s="0" t="s"><v>1</v></c>${empty}</row><row r="2"><c r="A2" s="0" t="str"><f t="array" ref="A2">IFERROR(__xludf.DUMMYFUNCTION("""COMPUTED"""),"0412000001")</f><v>0412000001</v></c><c r="B2" s="1"><v>46349.0</v></c>${empty.replaceAll('1"', '2"').replaceAll('s="2"', 's="0"')}</row></sheetData><drawing r:id="rId1" xmlns:r="${relation}"/></worksheet>`;
    const parts = {
      'xl/worksheets/sheet1.xml': sheet,
      'xl/sharedStrings.xml': strings,
      'xl/styles.xml': styles('d/m/yyyy'),
    };
    expect(valuesOf((await read(await workbookOf('', { parts }))).rows)).toEqual(expected);
  });

  test('Numbers: the name of the table above its header', async () => {
    const data = `${sheetData(['Table 1'])}<row r="2" ht="20"><c r="A2" s="0" t="s"><v>0</v></c><c r="B2" s="0" t="s"><v>1</v></c></row><row r="3"><c r="A3" t="s"><v>2</v></c><c r="B3" s="1"><v>46349</v></c></row>`;
    const sheets = [{ name: 'Sheet 1 - Table 1', data }];
    const parts = { 'xl/sharedStrings.xml': strings, 'xl/styles.xml': styles('dd/mm/yyyy') };
    const workbook = await workbookOf({ sheets }, { sheets, parts });
    expect(valuesOf((await read(workbook, { skipLines: 1 })).rows)).toEqual(expected);
  });

  test('programs that write every name with a prefix, and parts by their full paths', async () => {
    const sheet = `<x:worksheet xmlns:x="${main}"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t>mobile</x:t></x:is></x:c><x:c t="str"><x:v>due</x:v></x:c></x:row><x:row><x:c t="str"><x:v>0412000001</x:v></x:c><x:c t="str"><x:v>23/11/2026</x:v></x:c></x:row></x:sheetData></x:worksheet>`;
    const parts = {
      '_rels/.rels': `<Relationships xmlns="x"><Relationship Id="a" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument" Target="/book/main.xml"/></Relationships>`,
      'book/main.xml': `<x:workbook xmlns:x="${main}" xmlns:rel="${relation}"><x:sheets><x:sheet name="a" sheetId="1" rel:id="one"/></x:sheets></x:workbook>`,
      'book/_rels/main.xml.rels': `<Relationships xmlns="x"><Relationship Id="one" Type="${relation}/worksheet" Target="/Sheets/A.XML"/><Relationship Id="two" Type="${relation}/worksheet" TargetMode="External" Target="file:///etc/passwd"/></Relationships>`,
      'sheets/a.xml': sheet,
    };
    expect(valuesOf((await read(await zipOf(parts))).rows)).toEqual(expected);
  });
});
