import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openContactFile, type Row } from '../../src/contacts/read.ts';
import { collect } from '../support/collect.ts';
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
  const { header, rows } = await openContactFile(path, 'contacts.csv');
  return { header, rows: await collect(rows) };
}

const problems = (content: string | Uint8Array) => problemsLater(() => read(content));

const row = (line: number, ...values: string[]): Row => ({ line, values });

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

  test('can have fewer or more values in a row; that is for the next stage to judge', async () => {
    expect((await read('a,b\n1\n1,2,3\n,\n')).rows).toEqual([
      row(2, '1'),
      row(3, '1', '2', '3'),
      row(4, '', ''),
    ]);
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

  test('when a quote is never closed: that of the row in which it opens', async () => {
    expect(await problems('a,b\n"1\r\n1",2\n3,"4\n5,6\n7,8\n')).toEqual([
      'contacts.csv:4:2: A quote (") that opens in this row is never closed.',
    ]);
    const long = `a,b\n1,2\n"3,4\n${'5,6\n'.repeat(300_000)}`;
    expect(await problems(long)).toEqual([
      'contacts.csv:3:1: This row is over 1 MiB. Is a quote (") in it never closed?',
    ]);
  });

  test('when a quote stands where none can', async () => {
    expect(await problems('a,b\n1,"2"x\n')).toEqual([
      expect.stringContaining(
        'contacts.csv:2:2: Expected a comma or the end of the line after a closing quote',
      ),
    ]);
    expect(await problems('a,b\n1,2\n3,x"4"\n')).toEqual([
      expect.stringContaining('contacts.csv:3:2: A quote (") stands inside a value'),
    ]);
  });

  test('when the file is not there, or is a folder', async () => {
    const open = (path: string) => problemsLater(() => openContactFile(path, 'x.csv'));
    expect(await open(join(workspace.folder, 'none.csv'))).toEqual([
      'x.csv: The contact file does not exist.',
    ]);
    expect(await open(workspace.folder)).toEqual(['x.csv: This is a folder; expected a CSV file.']);
  });
});

describe('bytes that are not UTF-8 are refused, never replaced', () => {
  const what = 'Expected UTF-8, and this line holds bytes that are not. Save the file as "CSV UTF-8".';
  const latin1 = (text: string) => Buffer.from(text, 'latin1');

  test.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('with their line, with %s', async (_, end) => {
    const lines = ['a,b', 'René,1'].join(end);
    expect(await problems(latin1(lines))).toEqual([`contacts.csv:2: ${what}`]);
    expect(await problems(latin1(`x,y${end}"1${end}2",3${end}${lines}`))).toEqual([
      `contacts.csv:5: ${what}`,
    ]);
  });

  test('at the end of the file, where a character is cut off', async () => {
    const cut = Buffer.from('a,b\n1,€').subarray(0, -1);
    expect(await problems(cut)).toEqual([`contacts.csv:2: ${what}`]);
  });

  test('in UTF-16 with a byte order mark', async () => {
    expect(await problems(Buffer.from('\ufeffa,b\n1,2', 'utf16le'))).toEqual([`contacts.csv:1: ${what}`]);
  });

  test('far into the file, after pieces that cut characters and line ends in two', async () => {
    const lines = Array.from({ length: 40_000 }, (_, index) => `é€😀${index % 7},x`);
    const good = `a,b\r\n${lines.join('\r\n')}\r\n`;
    const { rows } = await read(good);
    expect(rows.length).toBe(40_000);
    expect(rows.at(-1)).toEqual(row(40_001, 'é€😀1', 'x'));
    expect(rows.some(({ values }) => values.join().includes('\ufffd'))).toBe(false);

    expect(await problems(Buffer.concat([Buffer.from(good), latin1('ü,1\r\n')]))).toEqual([
      `contacts.csv:40002: ${what}`,
    ]);
  });

  test('but a replacement character that the file itself holds is read as it stands', async () => {
    expect((await read('a,b\n\ufffd,1')).rows).toEqual([row(2, '\ufffd', '1')]);
  });
});
