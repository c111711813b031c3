import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { previewText } from '../../../src/cli/preview-text.ts';
import type { Delimiter } from '../../../src/contacts/read.ts';
import type { Contact } from '../../../src/domain/contacts.ts';
import { type PreparedCampaign, prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { previewCampaign } from '../../../src/engine/plan/preview-campaign.ts';
import type { StandardInput } from '../../../src/engine/settings.ts';
import { bytesOf } from '../../support/bytes.ts';
import { collectBatches } from '../../support/collect.ts';
import { encode, type Written } from '../../support/encode.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { accountsYaml, makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(async () => {
  workspace = await makeWorkspace({ 'accounts.yaml': accountsYaml });
});
afterEach(() => workspace[Symbol.asyncDispose]());

type Given = {
  /** The value of `contacts.file`, and more keys of `contacts`. */
  readonly file?: string;
  readonly keys?: string;
  readonly standardInput?: StandardInput;
  readonly contacts?: readonly string[];
};

async function prepare({
  file = 'contacts.csv',
  keys = '',
  standardInput,
  contacts,
}: Given = {}): Promise<PreparedCampaign> {
  await workspace.write(
    'night/campaign.yaml',
    `campaign: test
account: sandbox
channel: sms
contacts:
  file: ${file}
  country: AU
  columns: { Recipient: phone, Company: firm }
${keys}
message: { Message: "Hi [[name]]" }
`,
  );
  const environment = {
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
    VOLLEY_SANDBOX_TOKEN: 'x',
  };
  const settings = { workingFolder: workspace.folder, environment };
  return prepareCampaign('night/campaign.yaml', standardInput ? { ...settings, standardInput } : settings, {
    contactFiles: contacts,
  });
}

const problems = (given: Given) => problemsRejected(() => prepare(given));
const write = (name: string, content: string | Uint8Array) =>
  workspace.write(name, '').then(() => writeFile(join(workspace.folder, name), content));

/** Whom a campaign is sent to, without where they stand. */
async function recipients(given?: Given): Promise<unknown[]> {
  const { contacts } = await prepare(given);
  return (await collectBatches(contacts)).map((contact: Contact) => {
    const { line: _line, file: _file, ...others } = contact;
    return others;
  });
}

describe('every kind of file with the same contacts gives the same recipients', () => {
  const header = ['phone', 'name', 'firm', 'note'];
  const rows = [
    ['0458665290', 'Zoë', 'Müller & Söhne', ''],
    ['0412 345 678', 'Ann, of "Bo"', '€5; |’s\tShop', 'two\nlines'],
    ['n/a', 'Éva', 'x', 'y'],
    ['0412345679', 'Bo', '', ''],
  ];

  type Kind = {
    readonly encoding: Written;
    readonly mark: boolean;
    readonly delimiter: Delimiter;
    readonly end: string;
    readonly quoted: boolean;
    readonly gzip: boolean;
  };
  const plain: Kind = {
    encoding: 'utf-8',
    mark: false,
    delimiter: ',',
    end: '\n',
    quoted: false,
    gzip: false,
  };

  function fileOf(kind: Kind, some: readonly (readonly string[])[] = rows): Buffer {
    const cell = (value: string): string =>
      kind.quoted || /[",;|\t\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
    const lines = [header, ...some].map((row) => row.map(cell).join(kind.delimiter) + kind.end);
    const bytes = encode(lines.join(''), kind.encoding, kind.mark);
    return kind.gzip ? gzipSync(bytes) : bytes;
  }

  const encodings: readonly (readonly [Written, boolean])[] = [
    ['utf-8', false],
    ['utf-8', true],
    ['utf-16le', true],
    ['utf-16be', true],
    ['windows-1252', false],
  ];
  const kinds: readonly Kind[] = encodings.flatMap(([encoding, mark]) =>
    ([',', ';', '\t', '|'] as const).flatMap((delimiter) =>
      ['\n', '\r\n', '\r'].flatMap((end) =>
        [false, true].flatMap((quoted) =>
          // What is packed is unpacked before anything else is looked at.
          (end === '\n' && !quoted ? [false, true] : [false]).map((gzip) => {
            return { encoding, mark, delimiter, end, quoted, gzip };
          }),
        ),
      ),
    ),
  );

  let expected: unknown[];
  beforeEach(async () => {
    await write('night/contacts.csv', fileOf(plain));
    expected = await recipients();
    expect(expected).toMatchObject([
      { kind: 'contact', address: '+61458665290', destination: { Company: 'Müller & Söhne' } },
      { kind: 'contact', address: '+61412345678', destination: { Company: '€5; |’s\tShop' } },
      { kind: 'rejected', column: 'phone' },
      { kind: 'contact', address: '+61412345679' },
    ]);
  });

  test(`in ${kinds.length} kinds: encodings, delimiters, line ends, quotes, gzip`, async () => {
    for (const kind of kinds) {
      await write('night/contacts.csv', fileOf(kind));
      expect(await recipients(), JSON.stringify(kind)).toEqual(expected);
    }
  });

  test.each([
    ['utf-8', 'utf-8'],
    ['utf-16le', 'utf-16le'],
    ['utf-16be', 'utf-16be'],
    ['windows-1252', 'windows-1252'],
    ['latin-1', 'windows-1252'],
  ] as const)('when the campaign names the encoding: %s', async (name, encoding) => {
    await write('night/contacts.csv', fileOf({ ...plain, encoding }));
    expect(await recipients({ keys: `  encoding: ${name}` })).toEqual(expected);
  });

  test.each([
    ['comma', ','],
    ['semicolon', ';'],
    ['tab', '\t'],
    ['pipe', '|'],
  ] as const)('when the campaign names the delimiter: %s', async (name, delimiter) => {
    await write('night/contacts.csv', fileOf({ ...plain, delimiter }));
    expect(await recipients({ keys: `  delimiter: ${name}` })).toEqual(expected);
  });

  test('with lines before the header', async () => {
    await write('night/contacts.csv', Buffer.concat([Buffer.from('List of "May\n\n'), fileOf(plain)]));
    expect(await recipients({ keys: '  skipLines: 2' })).toEqual(expected);
  });

  test('through standard input, in whatever chunks', async () => {
    for (const size of [1, 7, 100_000]) {
      const standardInput = bytesOf(fileOf({ ...plain, encoding: 'windows-1252' }), size);
      expect(await recipients({ file: '"-"', standardInput })).toEqual(expected);
    }
  });

  test('in two files, of different kinds, one of them through standard input', async () => {
    await write(
      'night/contacts.csv',
      fileOf({ ...plain, encoding: 'utf-16le', mark: true, gzip: true }, rows.slice(0, 1)),
    );
    const standardInput = bytesOf(fileOf({ ...plain, delimiter: ';' }, rows.slice(1)));
    expect(await recipients({ file: '[contacts.csv, "-"]', standardInput })).toEqual(expected);
  });
});

describe('several files', () => {
  const first = 'phone,name,firm\n0458665290,Ann,A\nn/a,Bob,B\n';

  test('are read one after the other, each by its own header; lines are those of the file', async () => {
    await write('night/one.csv', first);
    await write('night/two.csv', 'other,firm,name,phone\nx,C,Cy,0412345678\n');
    const { contacts, contactFiles } = await prepare({ file: '[one.csv, two.csv]' });
    expect(await collectBatches(contacts)).toMatchObject([
      { kind: 'contact', file: 0, line: 2 },
      { kind: 'rejected', file: 0, line: 3 },
      {
        kind: 'contact',
        file: 1,
        line: 2,
        address: '+61412345678',
        destination: { Company: 'C', Custom1: 'Cy' },
      },
    ]);
    expect(contactFiles.map(({ name, lines }) => [name, lines()])).toEqual([
      ['night/one.csv', 3],
      ['night/two.csv', 2],
    ]);
  });

  test('must all have the columns that the campaign uses; all that lack some are told at once', async () => {
    await write('night/one.csv', first);
    await write('night/two.csv', 'phone,name\n');
    await write('night/three.csv', 'name,other\n');
    expect(await problems({ file: '[one.csv, two.csv, three.csv]' })).toEqual([
      'night/two.csv: The file lacks "firm", which the campaign uses and night/one.csv has. Its columns: phone, name.',
      'night/three.csv: The file lacks "phone", "firm", which the campaign uses and night/one.csv has. Its columns: name, other.',
    ]);
  });

  test('must all have the columns that choose rows and tell their country', async () => {
    await write('night/one.csv', `${first.replace('firm', 'firm,state,land')}`);
    await write('night/two.csv', 'phone,name,firm\n');
    const keys = '  where: [{ column: state, equals: NSW }]\n  countryColumn: land';
    expect(await problems({ file: '[one.csv, two.csv]', keys })).toEqual([
      expect.stringContaining('The file lacks "land", "state", which'),
    ]);
  });

  test('are told apart in the preview: each line with its file', async () => {
    await write('night/one.csv', first);
    await write('night/two.csv', 'phone,name,firm\n0458 665 290,Ann,A\n0412345678,Cy,C\n');
    const preview = await previewCampaign(await prepare({ file: '[one.csv, two.csv]' }), {
      now: () => new Date(),
    });
    expect(preview.rejected).toMatchObject([
      { file: 'night/one.csv', line: 3, reason: 'invalid' },
      { file: 'night/two.csv', line: 2, reason: 'duplicate', detail: 'same address as night/one.csv:2' },
    ]);
    const text = previewText(preview);
    expect(text).toMatch(/night\/two.csv │ +2 │/);
    expect(text).toContain('night/two.csv:3 → +61412345678');

    await write('night/contacts.csv', first);
    const alone = previewText(await previewCampaign(await prepare(), { now: () => new Date() }));
    expect(alone).toContain('Line 2 → +61458665290');
    expect(alone).not.toContain('contacts.csv:');
  });

  test('are each named with their place when they are not there', async () => {
    await write('night/one.csv', first);
    expect(await problems({ file: '[one.csv, none.csv]' })).toEqual([
      'night/campaign.yaml:5:19: The contact file night/none.csv cannot be read (it does not exist).',
    ]);
  });

  test('are between one and a hundred', async () => {
    expect(await problems({ file: '[]' })).toEqual([expect.stringContaining('expected 1 to 100 files')]);
    const many = Array.from({ length: 101 }, (_, index) => `${index}.csv`).join(', ');
    expect(await problems({ file: `[${many}]` })).toEqual([
      expect.stringContaining('expected 1 to 100 files'),
    ]);
  });
});

describe('standard input', () => {
  const content = 'phone,name,firm\n0458665290,Ann,A\n';

  test('is named as such', async () => {
    const { contactFiles } = await prepare({ file: '"-"', standardInput: bytesOf(content) });
    expect(contactFiles.map(({ name }) => name)).toEqual(['standard input']);
    expect(await problems({ file: '"-"', standardInput: bytesOf('a,b\n') })).toEqual([
      expect.stringContaining('standard input has no column "phone"'),
      expect.stringContaining('standard input has no column "firm"'),
      expect.stringContaining('[[name]]'),
    ]);
    expect(await problems({ file: '"-"', standardInput: bytesOf('') })).toEqual([
      'standard input: The file is empty; expected a header line.',
    ]);
  });

  test('is not read from a terminal', async () => {
    const what =
      'night/campaign.yaml:5:9: The contact file "-" is standard input, and nothing is piped into it; pipe a file in.';
    const terminal = Object.assign(bytesOf(content), { isTTY: true });
    expect(await problems({ file: '"-"', standardInput: terminal })).toEqual([what]);
    expect(await problems({ file: '"-"' })).toEqual([what]);
  });

  test('can be read only once', async () => {
    expect(await problems({ file: '["-", "-"]' })).toEqual([
      expect.stringContaining('expected "-", the standard input, at most once'),
    ]);
    expect(await problems({ contacts: ['-', '-'] })).toEqual([
      '--contacts: Standard input can be read only once.',
    ]);
  });
});

describe('contact files in place of those of the campaign', () => {
  const content = 'phone,name,firm\n0458665290,Ann,A\n';

  test('are relative to the working folder, and are what the run remembers', async () => {
    await write('mended.csv', content);
    const { campaign, contactFiles } = await prepare({ contacts: ['mended.csv'] });
    expect(contactFiles.map(({ name }) => name)).toEqual(['mended.csv']);
    // As the campaign would name it.
    expect(campaign.value.contacts.file).toEqual(['../mended.csv']);
  });

  test('may come from standard input, and be several', async () => {
    await write('mended.csv', content);
    const given = { contacts: ['mended.csv', '-'], standardInput: bytesOf(content) };
    const { campaign } = await prepare(given);
    expect(campaign.value.contacts.file).toEqual(['../mended.csv', '-']);
  });

  test('are told with the option when they are not there', async () => {
    expect(await problems({ contacts: ['none.csv'] })).toEqual([
      '--contacts: The contact file none.csv cannot be read (it does not exist).',
    ]);
  });
});

describe('files that were opened are closed', () => {
  /** Bytes without end, and whether they were given up. */
  function endless(header: string): { standardInput: StandardInput; closed: () => boolean } {
    let closed = false;
    async function* bytes() {
      try {
        yield Buffer.from(header);
        for (;;) yield Buffer.from('0458665290,Ann,A\n'.repeat(1_000));
      } finally {
        closed = true;
      }
    }
    return { standardInput: bytes(), closed: () => closed };
  }

  test('when another cannot be', async () => {
    const { standardInput, closed } = endless('phone,name,firm\n');
    await problems({ file: '["-", none.csv]', standardInput });
    expect(closed()).toBe(true);
  });

  test('when the campaign does not fit them', async () => {
    const { standardInput, closed } = endless('phone,name,form\n');
    await problems({ file: '"-"', standardInput });
    expect(closed()).toBe(true);
  });

  test('when nobody is going to read them', async () => {
    const { standardInput, closed } = endless('phone,name,firm\n');
    await (await prepare({ file: '"-"', standardInput })).close();
    expect(closed()).toBe(true);
  });

  test('when whoever reads them stops', async () => {
    await write('night/one.csv', 'phone,name,firm\n0458665290,Ann,A\n');
    const { standardInput, closed } = endless('phone,name,firm\n');
    const { contacts } = await prepare({ file: '[one.csv, "-"]', standardInput });
    for await (const batch of contacts) {
      expect(batch.length).toBe(1);
      break;
    }
    expect(closed()).toBe(true);
  });
});
