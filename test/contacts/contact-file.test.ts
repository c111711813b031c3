import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  type ContactFile,
  openContactFile,
  type ReadingOptions,
  type Row,
} from '../../src/contacts/contact-file.ts';
import { pieceSize, readFileBytes } from '../../src/contacts/file-bytes.ts';
import { bytesOf } from '../support/bytes.ts';
import { collectBatches } from '../support/collect.ts';
import { encode } from '../support/encode.ts';
import { liveHeap } from '../support/live-heap.ts';
import { testWorkspace } from '../support/test-workspace.ts';
import { problemsRejected } from '../support/thrown-problems.ts';

const workspace = testWorkspace({});

type ReadFile = Pick<ContactFile, 'header'> & {
  readonly rows: readonly Row[];
  readonly format: ReturnType<ContactFile['format']>;
  readonly lines: number;
};

/** @param size of the chunks in which the bytes arrive */
async function read(
  content: string | Uint8Array,
  options: ReadingOptions = {},
  size?: number,
): Promise<ReadFile> {
  const { header, batches, format, lines } = await openContactFile(
    bytesOf(content, size),
    'contacts.csv',
    options,
  );
  const rows = await collectBatches(batches);
  return { header, rows, format: format(), lines: lines() };
}

const rowsOf = async (content: string | Uint8Array, options?: ReadingOptions) =>
  (await read(content, options)).rows;

const problems = (content: string | Uint8Array, options?: ReadingOptions) =>
  problemsRejected(() => read(content, options));

const row = (line: number, ...values: string[]): Row => ({ kind: 'row', line, values });
const broken = (line: number, detail: string, text: string): Row => ({ kind: 'broken', line, detail, text });

const lineEnds = [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
] as const;

describe('openContactFile', () => {
  test.each(lineEnds)('lines can end with %s, with or without one at the end of the file', async (_, end) => {
    const lines = ['a,b', '1,2', '3,4'];
    for (const content of [lines.join(end), lines.join(end) + end]) {
      expect(await read(content)).toMatchObject({
        header: ['a', 'b'],
        rows: [row(2, '1', '2'), row(3, '3', '4')],
        lines: 3,
      });
    }
  });

  test('line ends can be mixed, and none becomes part of a value', async () => {
    expect(await rowsOf('a,b\n1,2\r\n3,4\r5,6\n')).toEqual([
      row(2, '1', '2'),
      row(3, '3', '4'),
      row(4, '5', '6'),
    ]);
  });

  test('quoted values can contain delimiters, quotes and line breaks', async () => {
    expect(await rowsOf('a,b\n"Doe, Ann","say ""hi"""\n"two\r\nlines",x\n"",""\n')).toEqual([
      row(2, 'Doe, Ann', 'say "hi"'),
      row(3, 'two\r\nlines', 'x'),
      row(5, '', ''),
    ]);
  });

  test('quotes inside a value that does not begin with one are part of it', async () => {
    expect(await rowsOf('a,b\n5" pipe,Ann "Bo" Lee\n6"",x\n7,8\n')).toEqual([
      row(2, '5" pipe', 'Ann "Bo" Lee'),
      row(3, '6""', 'x'),
      row(4, '7', '8'),
    ]);
  });

  test('values are not changed: spaces, zeros and signs stay', async () => {
    expect(await rowsOf('a,b,c\n 007 ,+61,1e3\n')).toEqual([row(2, ' 007 ', '+61', '1e3')]);
  });

  test('column names are trimmed', async () => {
    expect((await read(' a , b\n1,2')).header).toEqual(['a', 'b']);
  });

  test('a header can have several lines', async () => {
    expect(await read('"first\nname",b\n1,2\n')).toMatchObject({
      header: ['first\nname', 'b'],
      rows: [row(3, '1', '2')],
    });
  });

  test('a file can have only a header', async () => {
    expect(await read('a,b\n')).toMatchObject({ header: ['a', 'b'], rows: [], lines: 1 });
  });

  test('in a file with one column, a blank line is not a row, and an empty quoted value is one', async () => {
    expect(await rowsOf('a\n1\n\n""\n ')).toEqual([row(2, '1'), row(4, ''), row(5, ' ')]);
  });

  test('the line count includes blank lines, skipped lines and those inside quotes', async () => {
    expect((await read('title\n\na\n"1\n\n2"\n\n3\n\n', { skipLines: 1 })).lines).toBe(9);
  });
});

describe('the files of csv-spectrum', () => {
  const folder = fileURLToPath(new URL('../fixtures/csv-spectrum/', import.meta.url));
  const names = readdirSync(join(folder, 'csvs')).map((file) => file.replace('.csv', ''));

  test('all files of csv-spectrum are present', () => {
    expect(names.length).toBe(12);
  });

  test.each(names)('%s is read as csv-spectrum expects', async (name) => {
    const written: unknown = JSON.parse(readFileSync(join(folder, 'json', `${name}.json`), 'utf8'));
    // Its JSON is not a list there, and has another phone number than its CSV.
    const expected =
      name === 'location_coordinates'
        ? [Object.assign({}, written, { 'Contact Phone Number': '2095257564' })]
        : written;
    const { header, rows } = await read(readFileSync(join(folder, 'csvs', `${name}.csv`)));
    const found = rows.map((found) =>
      found.kind === 'row'
        ? Object.fromEntries(header.map((column, index) => [column, found.values[index]]))
        : found,
    );
    expect(found).toEqual(expected);
  });
});

describe('the line of a row', () => {
  test.each(lineEnds)(
    'a row has the line where it begins, after blank lines and rows of several lines, with %s',
    async (_, end) => {
      const lines = ['a,b', '', '"1', '', '1",2', '3,4', '', '', '5,"6', '6"', '7,8'];
      const rows = await rowsOf(lines.join(end));
      expect(rows.map(({ line }) => line)).toEqual([3, 6, 9, 11]);
    },
  );

  test('blank lines before the header count', async () => {
    expect(await rowsOf('\n\na,b\n1,2')).toEqual([row(4, '1', '2')]);
  });

  test('skipped lines before the header count, even with unpaired quotes', async () => {
    const content = 'Export of "May\n\n5 o\'clock, "\na,b\n1,2\n';
    expect(await read(content, { skipLines: 3 })).toMatchObject({
      header: ['a', 'b'],
      rows: [row(5, '1', '2')],
    });
  });
});

describe('the delimiter', () => {
  test.each([',', ';', '\t', '|'] as const)(
    'the delimiter is detected from the header: %j',
    async (delimiter) => {
      // More of the others, but inside quotes.
      const others = ',,,;;;\t\t\t|||'.replaceAll(delimiter, '');
      const { header, format } = await read(`${['a', 'b', `"${others}x"`].join(delimiter)}\n`);
      expect(header.slice(0, 2)).toEqual(['a', 'b']);
      expect(format).toMatchObject({ delimiter: delimiter });
    },
  );

  test('a header without any delimiter is read with commas', async () => {
    expect((await read('phone\n1\n')).format).toMatchObject({ delimiter: ',' });
  });

  test('a header with two equally frequent delimiters is an error', async () => {
    expect(await problems('\na,b;c\n')).toEqual([
      'contacts.csv:2: The header has as many commas as semicolons, so its delimiter is ambiguous; set it with "contacts.delimiter".',
    ]);
  });

  test("the campaign's delimiter takes precedence over the header", async () => {
    const { header, rows } = await read('a,b;c\n1,2;3\n', { delimiter: ';' });
    expect(header).toEqual(['a,b', 'c']);
    expect(rows).toEqual([row(2, '1,2', '3')]);
  });

  test.each(['sep=;', 'SEP=;', '"sep=;"'])(
    'a first line for spreadsheets declares the delimiter: %s',
    async (line) => {
      expect(await read(`${line}\r\na,b;c\r\n1,2;3\r\n`)).toMatchObject({
        header: ['a,b', 'c'],
        rows: [row(3, '1,2', '3')],
      });
    },
  );

  test('a first line that declares an unsupported delimiter is an error', async () => {
    expect(await problems('sep=#\na#b\n')).toEqual([
      'contacts.csv:1: "sep=#" is not a supported delimiter; expected a comma, a semicolon, a tab or a pipe.',
    ]);
  });
});

describe('the encoding', () => {
  const text = 'näme,b\nZoë’s,€5\n日本,x\n';
  const western = 'näme,b\nZoë’s,€5\nŠž,x\n';
  const inWestern = [row(2, 'Zoë’s', '€5'), row(3, 'Šž', 'x')];

  test.each(['utf-8', 'utf-16le', 'utf-16be'] as const)(
    'a byte order mark declares the encoding: %s',
    async (encoding) => {
      for (const size of [1, 2, 3, undefined]) {
        const { header, rows, format } = await read(encode(text, encoding, true), {}, size);
        expect(header).toEqual(['näme', 'b']);
        expect(rows).toEqual([row(2, 'Zoë’s', '€5'), row(3, '日本', 'x')]);
        expect(format).toMatchObject({ encoding: encoding });
      }
    },
  );

  test.each(['utf-8', 'utf-16le', 'utf-16be'] as const)(
    'the campaign can name the encoding: %s',
    async (encoding) => {
      expect((await read(encode(text, encoding), { encoding })).rows.length).toBe(2);
      expect((await read(encode(text, encoding, true), { encoding })).header).toEqual(['näme', 'b']);
    },
  );

  test('UTF-8 is the default, and applies to pure ASCII', async () => {
    expect((await read(text)).format).toMatchObject({ encoding: 'utf-8' });
    expect((await read('a,b\n1,2\n')).format).toMatchObject({ encoding: 'utf-8' });
  });

  test('a byte order mark can come before a quoted column name', async () => {
    expect((await read('\ufeff"a",b\n1,2')).header).toEqual(['a', 'b']);
  });

  test('a file is Windows-1252 if none of its characters could be UTF-8, or if the campaign says so', async () => {
    const bytes = encode(western, 'windows-1252');
    expect((await read(bytes)).format).toMatchObject({ encoding: 'windows-1252' });
    expect(await rowsOf(bytes)).toEqual(inWestern);
    expect(await rowsOf(bytes, { encoding: 'windows-1252' })).toEqual(inWestern);
  });

  test('the encoding is detected wherever the first non-ASCII letter is', async () => {
    const before = `a,b\n${'1,2\n'.repeat(pieceSize)}`;
    expect((await rowsOf(encode(`${before}Zoë,x\n`, 'utf-8'))).at(-1)).toEqual(
      row(pieceSize + 2, 'Zoë', 'x'),
    );
    expect((await rowsOf(encode(`${before}Zoë,x\n`, 'windows-1252'))).at(-1)).toEqual(
      row(pieceSize + 2, 'Zoë', 'x'),
    );
    expect((await rowsOf(encode(`${before}1,Zoë`, 'windows-1252'))).at(-1)).toEqual(
      row(pieceSize + 2, '1', 'Zoë'),
    );
  });

  test('the encoding does not depend on how the bytes arrive', async () => {
    for (const size of [1, 2, 3, 7]) {
      expect((await read(encode(western, 'windows-1252'), {}, size)).rows).toEqual(inWestern);
      expect((await read(text, {}, size)).rows.length).toBe(2);
    }
  });

  test('a replacement character in the file itself is kept', async () => {
    expect(await rowsOf('a,b\n\ufffd,1')).toEqual([row(2, '\ufffd', '1')]);
  });
});

describe('bytes outside the encoding are an error, and are never replaced', () => {
  const notUtf8 =
    'Expected UTF-8, but this line contains other bytes. Save the file as "CSV UTF-8", or set its encoding with "contacts.encoding".';
  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  const pieces = (...parts: readonly Uint8Array[]) => Buffer.concat(parts);
  /** Longer than a piece, so that earlier text decides how later text is read. */
  const filling = Buffer.from('1,2\n'.repeat(pieceSize / 4));

  test.each(lineEnds)('invalid bytes in named UTF-8 are an error with its line, with %s', async (_, end) => {
    const content = latin1(`x,y${end}"1${end}2",3${end}René,1`);
    expect(await problems(content, { encoding: 'utf-8' })).toEqual([`contacts.csv:4: ${notUtf8}`]);
  });

  test('invalid bytes in detected UTF-8 are an error with its line', async () => {
    const content = pieces(Buffer.from('a,b\nZoë,1\n'), filling, latin1('Zoë,1\n'));
    expect(await problems(content)).toEqual([`contacts.csv:${pieceSize / 4 + 3}: ${notUtf8}`]);
  });

  test('a truncated last character is an error', async () => {
    const cut = Buffer.from('a,b\né,€').subarray(0, -1);
    expect(await problems(cut, { encoding: 'utf-8' })).toEqual([`contacts.csv:2: ${notUtf8}`]);
  });

  test('UTF-8 and other bytes in one piece are an error', async () => {
    const content = pieces(Buffer.from('a,b\nZoë,1\n'), latin1('Zoë,1\n'));
    expect(await problems(content)).toEqual([
      'contacts.csv:3: The file contains UTF-8, but this line contains bytes that are not UTF-8. Save the file as "CSV UTF-8", or set its encoding with "contacts.encoding".',
    ]);
    expect((await rowsOf(content, { encoding: 'windows-1252' })).length).toBe(2);
  });

  test('UTF-8 late in a Windows-1252 file is an error', async () => {
    const content = pieces(latin1('a,b\nZoë,1\n'), filling, Buffer.from('Zoë,1\n'));
    expect(await problems(content)).toEqual([
      `contacts.csv:${pieceSize / 4 + 3}: The file was read as Windows-1252 so far, but this line looks like UTF-8. Save it as "CSV UTF-8", or set its encoding with "contacts.encoding".`,
    ]);
  });

  test('a byte without a character in Windows-1252 is an error', async () => {
    const what =
      'This line contains a byte without meaning in Windows-1252, and the file is not UTF-8 either. Save it as "CSV UTF-8", or set its encoding with "contacts.encoding".';
    const content = latin1('a,b\nZo\xeb,2\nZo\x8d,1\n');
    expect(await problems(content, { encoding: 'windows-1252' })).toEqual([`contacts.csv:3: ${what}`]);
  });

  test.each([
    ['Fran\x8dois', 'Fran\u008dois', 'François'],
    ['Ren\x8e', 'RenŽ', 'René'],
    ['O\xd5Neil', 'OÕNeil', 'O’Neil'],
    ['King\x92s', 'King’s', 'Kingís'],
    ['1 JOS\xc9', '1 JOSÉ', '1 JOS…'],
    ['M\x9fller', 'MŸller', 'Müller'],
  ])(
    'letters that also make words in Mac Roman are an error that shows both readings: %j',
    async (name, windows, mac) => {
      const what = `The file is not UTF-8. This line reads "${windows}" in Windows-1252 and "${mac}" in Mac Roman. Choose one with "contacts.encoding" (windows-1252 or mac-roman), or save the file as "CSV UTF-8".`;
      const content = latin1(`a,b\nx,1\n${name},1\n`);
      expect(await problems(content)).toEqual([`contacts.csv:3: ${what}`]);
      expect(await rowsOf(content, { encoding: 'mac-roman' })).toContainEqual(row(3, mac, '1'));
    },
  );

  test.each(['Zoë', 'Müller', 'René', 'Gården', 'O’Neil, Zoë', 'Camões', 'GARÇON', '5 €, señor', 'Groß'])(
    'letters that make no words in Mac Roman are Windows-1252: %s',
    async (name) => {
      const content = encode(`a\n"${name}"\n`, 'windows-1252');
      expect((await read(content)).rows).toEqual([row(2, name)]);
    },
  );

  test.each(['utf-16le', 'utf-16be'] as const)('half a character of %s is an error', async (encoding) => {
    const what = 'This line contains bytes that are not UTF-16. Save the file as "CSV UTF-8".';
    expect(await problems(encode('a,b\r\n1,\ud83d\r\n', encoding, true))).toEqual([
      `contacts.csv:2: ${what}`,
    ]);
    expect(await problems(encode('a,b\r\n1,2', encoding, true).subarray(0, -1))).toEqual([
      `contacts.csv:2: ${what}`,
    ]);
  });

  test('NUL bytes without a sign of UTF-16 are an error', async () => {
    const what =
      'The file contains NUL bytes: it is UTF-16 without a byte order mark, or not a text file. Save it as "CSV UTF-8", or set its encoding with "contacts.encoding".';
    expect(await problems(encode('a,b\n', 'utf-16le'))).toEqual([`contacts.csv:1: ${what}`]);
    expect(await problems(Buffer.from([0x89, 0x50, 0, 0, 0x0d]))).toEqual([`contacts.csv:1: ${what}`]);
  });

  test("a byte order mark that contradicts the campaign's encoding is an error", async () => {
    expect(await problems(encode('a,b\n', 'utf-8', true), { encoding: 'windows-1252' })).toEqual([
      'contacts.csv:1: The file begins with the byte order mark of utf-8, but "contacts.encoding" is windows-1252. Remove "contacts.encoding", or set it to utf-8.',
    ]);
  });
});

describe('a file in another format', () => {
  test.each<[string, string | Uint8Array]>([
    ['is JSON', '[\n  { "mobile": "0412000001" }\n]'],
    ['is JSON', '{"mobile":"0412000001"}\n{"mobile":"0412000002"}\n'],
    ['is JSON', encode('[{"mobile":1}]', 'utf-16le', true)],
    [
      'is an old Excel workbook (xls), or a password protects it',
      Buffer.from('d0cf11e0a1b11ae100000000', 'hex'),
    ],
    ['is compressed with 7-Zip', Buffer.from('377abcaf271c0004', 'hex')],
    ['is compressed with bzip2', 'BZh91AY&SY'],
    ['is a PDF', '%PDF-1.7\n%\u00e2\u00e3'],
    ['is an HTML page', '\n<!DOCTYPE html>\n<html><body>Please sign in'],
    ['is an HTML page', '<table border="1"><tr><td>mobile</td>'],
    ['is an Excel workbook (XML)', '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>'],
    ['is XML', '\ufeff<?xml version="1.0"?><contacts/>'],
    ['is a picture (PNG)', Buffer.from('89504e470d0a1a0a0000000d', 'hex')],
  ])('a file that %s is refused with the remedy', async (what, content) => {
    const message = [expect.stringMatching(/^contacts\.csv: The file is [^.]+\. [A-Z].+\.$/)];
    expect(await problems(content)).toEqual(message);
    expect((await problems(content))[0]).toContain(`The file ${what}`);
    // Also when it is compressed, whatever encoding the campaign names.
    expect(await problems(gzipSync(content), { encoding: 'windows-1252' })).toEqual(message);
  });

  test('a file that is compressed twice is refused', async () => {
    expect(await problems(gzipSync(gzipSync('a,b\n1,2\n')))).toEqual([
      'contacts.csv: The file is compressed with gzip twice. Decompress it once.',
    ]);
  });

  test('a CSV file that begins like another format is read', async () => {
    for (const content of [
      '[Name],{x}\n1,2\n',
      'PKZ,b\n1,2\n',
      '<b>,c\n1,2\n',
      '%PDF,x\n1,2\n',
      '"{""a"": 1}",b\n1,2\n',
    ])
      expect((await read(content)).rows).toEqual([row(2, '1', '2')]);
  });
});

describe('a title above the header', () => {
  const rows = 'mobile,name,suburb\n0412000001,Ann,Perth\n0412000002,"Lee, Bo",Perth\n';
  const title = (line: number, skip: number): string[] => [
    `contacts.csv:${line}: This line looks like a title: line ${skip + 1} below it has 3 column names. Skip the lines before that one with "contacts.skipLines: ${skip}".`,
  ];

  test.each([
    [`Customers November 2026\n${rows}`, title(1, 1)],
    [`Customers November 2026,,\n${rows}`, title(1, 1)],
    [`\n"Customers, November 2026"\nas of today\n\n${rows}`, title(2, 4)],
    [`Customers of Perth, all\n${rows.replaceAll(/,(?! )/g, ';')}`, title(1, 1)],
    [`Customers\r\n\r\n${rows.replaceAll('\n', '\r\n')}`, title(1, 2)],
  ])('the title %j is refused, and the error says how to skip it', async (content, message) => {
    expect(await problems(content)).toEqual(message);
    const skipLines = Number(/skipLines: (\d+)/.exec(message.join())?.[1]);
    expect((await read(content, { skipLines })).header).toEqual(['mobile', 'name', 'suburb']);
  });

  test.each([
    'mobile\n0412000001\n0412000002\n',
    'mobile,name\n0412000001,Ann\n',
    'name,mobile,suburb\nAnn,0412000001,Perth\nBo,0412000002,Perth\n',
    'mobile,name,suburb\n',
    'mobile\n0412000001\n"a, b, c"\n',
  ])('a header is not mistaken for a title: %j', async (content) => {
    expect((await read(content)).header[0]).toMatch(/^(mobile|name)$/);
  });
});

describe('a file compressed with gzip', () => {
  const content = 'a,b\n1,2\n3,4\n';
  const expected = [row(2, '1', '2'), row(3, '3', '4')];

  test('a gzip file is decompressed whatever its name', async () => {
    for (const size of [1, 5, undefined]) {
      const { rows, format } = await read(gzipSync(content), {}, size);
      expect(rows).toEqual(expected);
      expect(format).toMatchObject({ gzip: true });
    }
    expect((await read(content)).format).toMatchObject({ gzip: false });
  });

  test('a gzip file can have several members', async () => {
    const packed = Buffer.concat([gzipSync('a,b\n1,'), gzipSync('2\n3,4\n')]);
    expect(await rowsOf(packed)).toEqual(expected);
  });

  test('a gzip file can be larger than many pieces', async () => {
    const many = `a,b\n${'é,2\r\n'.repeat(40_000)}`;
    expect((await rowsOf(gzipSync(many))).at(-1)).toEqual(row(40_001, 'é', '2'));
  });

  test('a truncated gzip file is refused', async () => {
    expect(await problems(gzipSync(content).subarray(0, -3))).toEqual([
      'contacts.csv: The file is compressed with gzip and ends too early. Check that it was copied completely.',
    ]);
  });

  test('a gzip file that is damaged, or followed by other bytes, is refused', async () => {
    const what = 'contacts.csv: The file is compressed with gzip and damaged. Copy or compress it again.';
    const damaged = gzipSync(content);
    damaged.writeUInt32LE(1, damaged.length - 8);
    expect(await problems(damaged)).toEqual([what]);
    expect(await problems(Buffer.concat([gzipSync(content), Buffer.from('5,6\n')]))).toEqual([what]);
  });
});

describe('a broken row', () => {
  const openQuote = 'value 1: a quote (") opens and is never closed';
  const good = ['1,2', '3,4', '5,6'];

  test('a row with fewer or more values than the header is broken', async () => {
    expect(await rowsOf('a,b\n1\n1,2,3\n,\n1,"2",3\n3,4\n5,6')).toEqual([
      broken(2, '1 value, but the header has 2 columns', '1'),
      broken(3, '3 values, but the header has 2 columns', '1,2,3'),
      row(4, '', ''),
      broken(5, '3 values, but the header has 2 columns', '1,"2",3'),
      row(6, '3', '4'),
      row(7, '5', '6'),
    ]);
  });

  test.each(lineEnds)(
    'a row with an unclosed quote is broken, and the rows after it are read, with %s',
    async (_, end) => {
      expect(await rowsOf(['a,b', '"1,2', ...good].join(end))).toEqual([
        broken(2, openQuote, '"1,2'),
        row(3, '1', '2'),
        row(4, '3', '4'),
        row(5, '5', '6'),
      ]);
    },
  );

  test('a row whose quote only another row closes is broken', async () => {
    expect(await rowsOf(['a,b', '"1,2', '3,"4"', ...good, '7"",8', '9,"10', '11"'].join('\n'))).toEqual([
      broken(2, openQuote, '"1,2'),
      row(3, '3', '4'),
      row(4, '1', '2'),
      row(5, '3', '4'),
      row(6, '5', '6'),
      broken(7, expect.stringMatching(/^value 1: a quote \("\) stands inside/), '7"",8'),
      row(8, '9', '10\n11'),
    ]);
  });

  test('a row with text after a closing quote is broken', async () => {
    expect(await rowsOf(['a,b', '1,"2"x', ...good].join('\n'))).toEqual([
      broken(2, expect.stringMatching(/^value 2: text stands after a closing quote/), '1,"2"x'),
      row(3, '1', '2'),
      row(4, '3', '4'),
      row(5, '5', '6'),
    ]);
  });

  test('a row with spaces before an opening quote, or a quote next to a quoted value, is broken', async () => {
    const detail = expect.stringMatching(/^value \d: a quote \("\) stands inside a value/);
    expect(await rowsOf(['a,b', '1, "2"', '1"2,"3"', ...good].join('\n'))).toEqual([
      broken(2, detail, '1, "2"'),
      broken(3, detail, '1"2,"3"'),
      row(4, '1', '2'),
      row(5, '3', '4'),
      row(6, '5', '6'),
    ]);
  });

  test('the rest of a broken row does not become another row', async () => {
    expect(await rowsOf(['a,b,c', 'Ann,"1 Foo St', 'Apt 3",0412,x', '1,2,3', '4,5,6'].join('\n'))).toEqual([
      broken(2, '4 values, but the header has 3 columns', 'Ann,"1 Foo St'),
      broken(3, expect.stringContaining('stands inside a value'), 'Apt 3",0412,x'),
      row(4, '1', '2', '3'),
      row(5, '4', '5', '6'),
    ]);
  });

  test('of a broken row of several lines, each further line is read by itself', async () => {
    expect(await rowsOf(['a,b', '1,"2', '3,4', '5" x,6', '"7",8', '9,10', ''].join('\n'))).toEqual([
      broken(2, 'value 2: a quote (") opens and is never closed', '1,"2'),
      row(3, '3', '4'),
      broken(4, expect.stringContaining('stands inside a value'), '5" x,6'),
      row(5, '7', '8'),
      row(6, '9', '10'),
    ]);
  });

  test('a line of more than 1,048,576 characters is broken, and an unclosed quote breaks only its own line', async () => {
    const long = 'x'.repeat(1_048_577);
    const rows = await rowsOf(
      `a,b\n1,2\n"3,4\n${`5,${'6'.repeat(20)}\n`.repeat(50_000)}${long},8\n9,10\n1,"${long}\n${long}"\n`,
    );
    expect(rows.slice(0, 3)).toEqual([
      row(2, '1', '2'),
      broken(3, openQuote, '"3,4'),
      row(4, '5', '6'.repeat(20)),
    ]);
    expect(rows.slice(50_002)).toEqual([
      broken(50_004, 'the line has more than 1,048,576 characters', long.slice(1)),
      row(50_005, '9', '10'),
      broken(50_006, 'the line has more than 1,048,576 characters', `1,"${long}`.slice(0, 1_048_576)),
      broken(50_007, 'the line has more than 1,048,576 characters', long.slice(1)),
    ]);
  });

  test('a broken row among many quoted rows is broken at any position', async () => {
    const lines = Array.from({ length: 10_000 }, (_, index) =>
      index % 7 === 3 ? `"${index},x` : index % 11 === 5 ? `"${index}"` : `"${index}","two\nlines"`,
    );
    const rows = await rowsOf(`a,b\n${lines.join('\n')}\n`);
    const read = rows.filter(({ kind }) => kind === 'row').length;
    // The second line of a row of two is broken when the first is.
    expect(read).toBe(lines.filter((line) => line.includes('two')).length);
    expect(rows.filter(({ kind }) => kind === 'broken').length).toBe(10_000 - read);
  });
});

describe('a file with more than half of its rows broken', () => {
  test('a file with more than half of its rows broken is refused at its end, with the first of them', async () => {
    expect(await problems('a,b\n1;2\n3,4\n5,6\n7;8\n9;10\n11;12\n')).toEqual([
      'contacts.csv: 4 of 6 rows are broken, so the file was probably read in the wrong format. Check its delimiter ("contacts.delimiter"; it was read with ","), its encoding ("contacts.encoding"), the lines before its header ("contacts.skipLines") and its quotes. The first broken rows:',
      'contacts.csv:2: 1 value, but the header has 2 columns.',
      'contacts.csv:5: 1 value, but the header has 2 columns.',
      'contacts.csv:6: 1 value, but the header has 2 columns.',
    ]);
  });

  test('a file with half of its rows broken is read', async () => {
    expect((await rowsOf('a,b\n1\n2\n3,4\n5,6\n')).length).toBe(4);
  });
});

describe('errors of a file', () => {
  test.each([
    ['', {}, 'contacts.csv: The file is empty; expected a header line.'],
    ['\n\r\n', {}, 'contacts.csv: The file is empty; expected a header line.'],
    ['\ufeff', {}, 'contacts.csv: The file is empty; expected a header line.'],
    ['sep=;\n', {}, 'contacts.csv: The file is empty; expected a header line.'],
    [
      'a\nb',
      { skipLines: 2 },
      'contacts.csv: The file has nothing after the 2 lines of "contacts.skipLines"; expected a header line.',
    ],
  ])('a missing header is an error with file and line: %j', async (content, options, problem) => {
    expect(await problems(content, options)).toEqual([problem]);
  });

  test('all empty and repeated column names are reported at once', async () => {
    expect(await problems('\na,,b, a ,b\n1,2,3,4,5')).toEqual([
      'contacts.csv:2:2: Column 2 has no name in the header line.',
      'contacts.csv:2:4: Columns 1 and 4 are both named "a"; give each its own name.',
      'contacts.csv:2:5: Columns 3 and 5 are both named "b"; give each its own name.',
    ]);
  });

  test('a misplaced or unclosed quote in the header is an error', async () => {
    expect(await problems('\na,"b"c\n1,2\n')).toEqual([
      expect.stringMatching(/^contacts\.csv:2:2: In the header, text stands after a closing quote/),
    ]);
    expect(await problems('a,"b\n1,2\n')).toEqual([
      'contacts.csv:1:2: In the header, a quote (") opens and is never closed.',
    ]);
  });

  test('a header that is too long is an error', async () => {
    expect(await problems('x'.repeat(2_000_000))).toEqual([
      'contacts.csv:1: The line has more than 1,048,576 characters; expected the header, or a line before it.',
    ]);
  });

  test('a missing file and a folder are errors', async () => {
    const open = (path: string) =>
      problemsRejected(() => openContactFile(readFileBytes(path, 'x.csv'), 'x.csv'));
    expect(await open(join(workspace.folder, 'none.csv'))).toEqual([
      'x.csv: The file cannot be read (it does not exist).',
    ]);
    expect(await open(workspace.folder)).toEqual(['x.csv: This is a folder; expected a CSV file.']);
  });
});

describe('closing a file', () => {
  /** Endless bytes, and whether the reader closed them. */
  function endless(packed: boolean): {
    bytes: AsyncGenerator<Buffer, void, undefined>;
    closed: () => boolean;
  } {
    let closed = false;
    const chunk = Buffer.from('1,2\n'.repeat(1_000));
    async function* bytes() {
      try {
        yield packed ? gzipSync('a,b\n') : Buffer.from('a,b\n');
        for (;;) yield packed ? gzipSync(chunk) : chunk;
      } finally {
        closed = true;
      }
    }
    return { bytes: bytes(), closed: () => closed };
  }

  test.each([
    ['plain', false],
    ['packed', true],
  ])(
    'a file is closed without a batch, and when its reader stops after the first one: %s',
    async (_, packed) => {
      const unread = endless(packed);
      await (await openContactFile(unread.bytes, 'contacts.csv')).close();
      expect(unread.closed()).toBe(true);

      const { bytes, closed } = endless(packed);
      const { batches } = await openContactFile(bytes, 'contacts.csv');
      for await (const rows of batches) {
        expect(rows.length).toBeGreaterThan(0);
        break;
      }
      expect(closed()).toBe(true);
    },
  );

  test('a faulty header closes the file', async () => {
    let closed = false;
    async function* bytes() {
      try {
        for (;;) yield Buffer.from('a,a\n'.repeat(pieceSize));
      } finally {
        closed = true;
      }
    }
    await problemsRejected(() => openContactFile(bytes(), 'contacts.csv'));
    expect(closed).toBe(true);
  });
});

test('memory grows neither with the rows of a file nor with an endless line', async () => {
  async function* bytes() {
    yield Buffer.from('a,b\n');
    const row = Buffer.from(`${'x'.repeat(999)},1\n`.repeat(100));
    for (let index = 0; index < 1_000; index++) yield row;
    const rest = Buffer.alloc(1_000_000, 'y');
    for (let index = 0; index < 150; index++) yield rest;
  }
  const { batches, lines } = await openContactFile(bytes(), 'contacts.csv');
  const before = liveHeap();
  let rows = 0;
  let seen = 0;
  let most = 0;
  for await (const batch of batches) {
    rows += batch.length;
    if (seen++ % 200 === 0) most = Math.max(most, liveHeap());
  }
  expect(rows).toBe(100_001);
  expect(lines()).toBe(100_002);
  // The rows are 100 MB together, and the line is longer.
  expect(most - before).toBeLessThan(50 * 1024 * 1024);
  expect(liveHeap() - before).toBeLessThan(50 * 1024 * 1024);
});

test('readFileBytes reads a file unchanged', async () => {
  const path = join(workspace.folder, 'contacts.csv');
  await writeFile(path, `a,b\n${'é,"1"\r\n'.repeat(20_000)}`);
  const { batches } = await openContactFile(readFileBytes(path, 'contacts.csv'), 'contacts.csv');
  const rows = await collectBatches(batches);
  expect(rows.length).toBe(20_000);
  expect(rows.at(-1)).toEqual(row(20_001, 'é', '1'));
});
