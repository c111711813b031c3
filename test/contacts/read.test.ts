import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openContactFile, type Row } from '../../src/contacts/read.ts';
import { collectBatches } from '../support/collect.ts';
import { problemsLater } from '../support/problems.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await makeWorkspace();
});
afterAll(() => workspace[Symbol.asyncDispose]());

async function read(content: string | Uint8Array): Promise<{ header: readonly string[]; rows: Row[] }> {
  const path = join(workspace.folder, 'contacts.csv');
  await writeFile(path, content);
  const { header, batches } = await openContactFile(createReadStream(path), 'contacts.csv');
  return { header, rows: await collectBatches(batches) };
}

const problems = (content: string | Uint8Array) => problemsLater(() => read(content));

const row = (line: number, ...values: string[]): Row => ({ kind: 'row', line, values });

describe('a contact file', () => {
  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('can end its lines with %s, at the end of the file too or not', async (_, end) => {
    const lines = ['a,b', '1,2', '3,4'];
    const expected = { header: ['a', 'b'], rows: [row(2, '1', '2'), row(3, '3', '4')] };
    expect(await read(lines.join(end))).toEqual(expected);
    expect(await read(lines.join(end) + end)).toEqual(expected);
  });

  test('can mix line ends, and none of them gets into a value', async () => {
    expect((await read('a,b\n1,2\r\n3,4\r5,6\n')).rows).toEqual([
      row(2, '1', '2'),
      row(3, '3', '4'),
      row(4, '5', '6'),
    ]);
  });

  test('can begin with a byte order mark, before a quoted name too', async () => {
    expect((await read('\ufeffa,b\n1,2')).header).toEqual(['a', 'b']);
    expect((await read('\ufeff"a",b\n1,2')).header).toEqual(['a', 'b']);
  });

  test('can hold commas, quotes and line breaks in quotes', async () => {
    expect((await read('a,b\n"Doe, Ann","say ""hi"""\n"two\nlines",x')).rows).toEqual([
      row(2, 'Doe, Ann', 'say "hi"'),
      row(3, 'two\nlines', 'x'),
    ]);
  });

  test('is read without altering values: spaces, zeros and signs stay', async () => {
    expect((await read('a,b,c\n 007 ,+61,1e3\n')).rows).toEqual([row(2, ' 007 ', '+61', '1e3')]);
  });

  test('can have spaces around the names in its header, which are not part of them', async () => {
    expect((await read(' a , b\n1,2')).header).toEqual(['a', 'b']);
  });

  test('can be a header alone', async () => {
    expect(await read('a,b\n')).toEqual({ header: ['a', 'b'], rows: [] });
  });
});

describe('the line of a row', () => {
  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('is where it begins, after blank lines and rows of several lines, with %s', async (_, end) => {
    const lines = ['a,b', '', '"1', '', '1",2', '3,4', '', '', '5,"6', '6"', '7,8'];
    const { rows } = await read(lines.join(end));
    expect(rows.map(({ line }) => line)).toEqual([3, 6, 9, 11]);
  });

  test('counts blank lines before the header', async () => {
    expect((await read('\n\na,b\n1,2')).rows).toEqual([row(4, '1', '2')]);
  });

  test('is the line in which the row really begins, whatever stands in the values', async () => {
    const value = fc
      .array(fc.constantFrom('x', 'é', '😀', ',', '""', '\n', '\r\n', ' '), { maxLength: 5 })
      .map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(value, value), { maxLength: 20 }),
        fc.constantFrom('\n', '\r\n'),
        async (values, end) => {
          let source = `a,b${end}`;
          const expected = values.map(([one, other]) => {
            const line = source.split(/\r\n|\n/).length;
            source += `"${one}","${other}"${end}`;
            return row(line, one.replaceAll('""', '"'), other.replaceAll('""', '"'));
          });
          expect((await read(source)).rows).toEqual(expected);
        },
      ),
    );
  });
});

describe('an error names file and line', () => {
  test.each([
    ['', 'contacts.csv: The file is empty; expected a header line.'],
    ['\n\r\n', 'contacts.csv: The file is empty; expected a header line.'],
    ['\ufeff', 'contacts.csv: The file is empty; expected a header line.'],
  ])('when the file is empty: %j', async (content, problem) => {
    expect(await problems(content)).toEqual([problem]);
  });

  test('when column names are empty or repeated: all of them at once', async () => {
    expect(await problems('\na,,b, a ,b\n1,2,3,4,5')).toEqual([
      'contacts.csv:2:2: Column 2 has no name in the header line.',
      'contacts.csv:2:4: Columns 1 and 4 are both named "a"; give each its own name.',
      'contacts.csv:2:5: Columns 3 and 5 are both named "b"; give each its own name.',
    ]);
  });

  test('when the file is not there, or is a folder', async () => {
    const open = (path: string) => problemsLater(() => openContactFile(createReadStream(path), 'x.csv'));
    expect(await open(join(workspace.folder, 'none.csv'))).toEqual([
      'x.csv: The contact file does not exist.',
    ]);
    expect(await open(workspace.folder)).toEqual(['x.csv: This is a folder; expected a CSV file.']);
  });
});

describe('a row that cannot be read', () => {
  const broken = (line: number, text: string, detail: unknown, place?: number): unknown => ({
    kind: 'broken',
    line,
    text,
    detail,
    place,
  });
  const good = '1,2\n'.repeat(9);
  const brokenIn = async (rows: string) =>
    (await read(`a,b\n${rows}${good}`)).rows.filter(({ kind }) => kind === 'broken');
  const count = async (rows: string) => (await read(`a,b\n${rows}${good}`)).rows.length;

  test('has too few or too many values', async () => {
    expect(await brokenIn('1\n1,2,3\n"1","2","3"\n')).toEqual([
      broken(2, '1', '1 values, where the header has 2 columns'),
      broken(3, '1,2,3', '3 values, where the header has 2 columns'),
      broken(4, '"1","2","3"', '3 values, where the header has 2 columns'),
    ]);
  });

  test('has a quote where none can stand', async () => {
    expect(await brokenIn('1,"2"x\n3,x"4"\n')).toEqual([
      broken(2, '1,"2"x', expect.stringMatching(/^after a closing quote/), 1),
      broken(3, '3,x"4"', expect.stringMatching(/^a quote \("\) stands inside a value/), 1),
    ]);
  });

  test('has a quote that is never closed, and takes no other row with it', async () => {
    expect(await brokenIn('1,"2\n3,4\n"5",6\n')).toEqual([
      broken(2, '1,"2', expect.stringMatching(/never closed/)),
    ]);
    expect(await brokenIn('1,"2\n')).toEqual([broken(2, '1,"2', expect.stringMatching(/never closed/))]);
    expect(await count('1,"2\n3,4\n"5",6\n')).toBe(12);
  });
});

describe('the encoding is found out', () => {
  const bytes = (text: string, encoding: BufferEncoding) => Buffer.from(text, encoding);

  test('as Windows-1252 where the bytes are not UTF-8', async () => {
    expect((await read(bytes('a,b\nRené,1', 'latin1'))).rows).toEqual([row(2, 'René', '1')]);
    expect((await read(Buffer.from([0x61, 0x0a, 0x80, 0x31]))).rows).toEqual([row(2, '€1')]);
  });

  test('as UTF-16 by the byte order mark', async () => {
    const text = '\ufeffa,b\nRené,€\n';
    const little = bytes(text, 'utf16le');
    expect((await read(little)).rows).toEqual([row(2, 'René', '€')]);
    expect((await read(Buffer.from(little).swap16())).rows).toEqual([row(2, 'René', '€')]);
  });

  test('and a mixture is refused with the line that does not fit, never guessed', async () => {
    const mixed = Buffer.concat([Buffer.from('a,b\nRené,1\n'), bytes('Zoë,2\n', 'latin1')]);
    expect(await problems(mixed)).toEqual([
      expect.stringMatching(/^contacts.csv:3: The file seems to be a mixture of UTF-8 and Windows-1252/),
    ]);
  });

  test('at once: bytes that are not UTF-8 far behind are refused with their line', async () => {
    const lines = Array.from({ length: 40_000 }, (_, index) => `é€😀${index % 7},x`);
    const good = `a,b\r\n${lines.join('\r\n')}\r\n`;
    const { rows } = await read(good);
    expect(rows.length).toBe(40_000);
    expect(rows.at(-1)).toEqual(row(40_001, 'é€😀1', 'x'));
    expect(await problems(Buffer.concat([Buffer.from(good), bytes('ü,1\r\n', 'latin1')]))).toEqual([
      expect.stringMatching(/^contacts.csv:40002: Expected UTF-8/),
    ]);
  });

  test('where a character is cut off at the end of the file', async () => {
    const cut = Buffer.from('a,b\né,€').subarray(0, -1);
    expect(await problems(cut)).toEqual([expect.stringMatching(/^contacts.csv:2: /)]);
  });

  test('but a replacement character that the file itself holds is read as it stands', async () => {
    expect((await read('a,b\n\ufffd,1')).rows).toEqual([row(2, '\ufffd', '1')]);
  });
});
