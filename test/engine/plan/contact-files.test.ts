import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { previewText } from '../../../src/cli/plans/preview-text.ts';
import type { Delimiter } from '../../../src/contacts/contact-file.ts';
import type { Contact } from '../../../src/domain/contacts.ts';
import { type PreparedCampaign, prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { previewCampaign } from '../../../src/engine/plan/preview-campaign.ts';
import type { StandardInput } from '../../../src/engine/settings.ts';
import { bytesOf } from '../../support/bytes.ts';
import { collectBatches } from '../../support/collect.ts';
import { encode, type Written } from '../../support/encode.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { accountsYaml, makeWorkspace, settingsIn, type Workspace } from '../../support/workspace.ts';

const opened = testLedger();
let workspace: Workspace;
beforeEach(async () => {
  workspace = await makeWorkspace({ 'accounts.yaml': accountsYaml });
});
afterEach(() => workspace[Symbol.asyncDispose]());

type Given = {
  /** The value of `contacts.file`, and further keys of `contacts`. */
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
  const settings = { ...settingsIn(workspace), standardInput };
  return prepareCampaign('night/campaign.yaml', settings, { contactFiles: contacts });
}

const problems = (given: Given) => problemsRejected(() => prepare(given));
const write = (name: string, content: string | Uint8Array) =>
  workspace.write(name, '').then(() => writeFile(join(workspace.folder, name), content));

/** Recipients without their file and line. */
async function recipients(given?: Given): Promise<unknown[]> {
  const { contacts } = await prepare(given);
  return (await collectBatches(contacts)).map((contact: Contact) => {
    const { line: _line, file: _file, ...others } = contact;
    return others;
  });
}

describe('files with the same contacts in any format give the same recipients', () => {
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
          // Unpacking comes before everything else.
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
  ] as const)('a file in the configured encoding %s gives the same recipients', async (name, encoding) => {
    await write('night/contacts.csv', fileOf({ ...plain, encoding }));
    expect(await recipients({ keys: `  encoding: ${name}` })).toEqual(expected);
  });

  test.each([
    ['comma', ','],
    ['semicolon', ';'],
    ['tab', '\t'],
    ['pipe', '|'],
  ] as const)(
    'a file with the configured delimiter %s gives the same recipients',
    async (name, delimiter) => {
      await write('night/contacts.csv', fileOf({ ...plain, delimiter }));
      expect(await recipients({ keys: `  delimiter: ${name}` })).toEqual(expected);
    },
  );

  test('a file with skipped lines before the header gives the same recipients', async () => {
    await write('night/contacts.csv', Buffer.concat([Buffer.from('List of "May\n\n'), fileOf(plain)]));
    expect(await recipients({ keys: '  skipLines: 2' })).toEqual(expected);
  });

  test('standard input in chunks of any size gives the same recipients', async () => {
    for (const size of [1, 7, 100_000]) {
      const standardInput = bytesOf(fileOf({ ...plain, encoding: 'windows-1252' }), size);
      expect(await recipients({ file: '"-"', standardInput })).toEqual(expected);
    }
  });

  test('two files of different formats, one from standard input, give the same recipients', async () => {
    await write(
      'night/contacts.csv',
      fileOf({ ...plain, encoding: 'utf-16le', mark: true, gzip: true }, rows.slice(0, 1)),
    );
    const standardInput = bytesOf(fileOf({ ...plain, delimiter: ';' }, rows.slice(1)));
    expect(await recipients({ file: '[contacts.csv, "-"]', standardInput })).toEqual(expected);
  });
});

describe('several contact files', () => {
  const first = 'phone,name,firm\n0458665290,Ann,A\nn/a,Bob,B\n';

  test('several files are read in order, each by its own header and with its own line numbers', async () => {
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

  test('all files that lack columns of the campaign are reported at once', async () => {
    await write('night/one.csv', first);
    await write('night/two.csv', 'phone,name\n');
    await write('night/three.csv', 'name,other\n');
    expect(await problems({ file: '[one.csv, two.csv, three.csv]' })).toEqual([
      'night/two.csv: The file lacks "firm", which the campaign uses and night/one.csv has. Its columns: phone, name.',
      'night/three.csv: The file lacks "phone", "firm", which the campaign uses and night/one.csv has. Its columns: name, other.',
    ]);
  });

  test('every file needs the columns that filter rows and set their country', async () => {
    await write('night/one.csv', `${first.replace('firm', 'firm,state,land')}`);
    await write('night/two.csv', 'phone,name,firm\n');
    const keys = '  where: [{ column: state, equals: NSW }]\n  countryColumn: land';
    expect(await problems({ file: '[one.csv, two.csv]', keys })).toEqual([
      expect.stringContaining('The file lacks "land", "state", which'),
    ]);
  });

  test('the preview names the file of each line', async () => {
    await write('night/one.csv', first);
    await write('night/two.csv', 'phone,name,firm\n0458 665 290,Ann,A\n0412345678,Cy,C\n');
    const preview = await previewCampaign(await prepare({ file: '[one.csv, two.csv]' }), opened.context);
    expect(preview.rejected).toMatchObject([
      { file: 'night/one.csv', line: 3, reason: 'invalid' },
      { file: 'night/two.csv', line: 2, reason: 'duplicate', detail: 'same address as night/one.csv:2' },
    ]);
    const text = previewText(preview);
    expect(text).toMatch(/night\/two.csv │ +2 │/);
    expect(text).toContain('night/two.csv:3 → +61412345678');

    await write('night/contacts.csv', first);
    const alone = previewText(await previewCampaign(await prepare(), opened.context));
    expect(alone).toContain('Line 2 → +61458665290');
    expect(alone).not.toContain('contacts.csv:');
  });

  test('every missing file is reported at its location in the campaign', async () => {
    await write('night/one.csv', first);
    expect(await problems({ file: '[one.csv, none.csv]' })).toEqual([
      'night/campaign.yaml:5:19: The contact file night/none.csv cannot be read (it does not exist).',
    ]);
  });

  test('a campaign has between one and a hundred contact files', async () => {
    expect(await problems({ file: '[]' })).toEqual([expect.stringContaining('expected 1 to 100 files')]);
    const many = Array.from({ length: 101 }, (_, index) => `${index}.csv`).join(', ');
    expect(await problems({ file: `[${many}]` })).toEqual([
      expect.stringContaining('expected 1 to 100 files'),
    ]);
  });
});

describe('contact files from standard input', () => {
  const content = 'phone,name,firm\n0458665290,Ann,A\n';

  test('messages call it standard input', async () => {
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

  test('standard input from a terminal is refused', async () => {
    const what =
      'night/campaign.yaml:5:9: The contact file "-" is standard input, but nothing is piped in. Pipe a file in.';
    const terminal = Object.assign(bytesOf(content), { isTTY: true });
    expect(await problems({ file: '"-"', standardInput: terminal })).toEqual([what]);
    expect(await problems({ file: '"-"' })).toEqual([what]);
  });

  test('standard input can be named only once', async () => {
    expect(await problems({ file: '["-", "-"]' })).toEqual([
      expect.stringContaining('expected "-", the standard input, at most once'),
    ]);
    expect(await problems({ contacts: ['-', '-'] })).toEqual([
      '--contacts: Standard input can be read only once.',
    ]);
  });
});

describe('contact files that replace those of the campaign', () => {
  const content = 'phone,name,firm\n0458665290,Ann,A\n';

  test('replacing files are relative to the working folder and recorded with the run', async () => {
    await write('fixed.csv', content);
    const { campaign, contactFiles } = await prepare({ contacts: ['fixed.csv'] });
    expect(contactFiles.map(({ name }) => name)).toEqual(['fixed.csv']);
    // As the campaign would name it.
    expect(campaign.value.contacts.file).toEqual(['../fixed.csv']);
  });

  test('standard input can be one of several replacing files', async () => {
    await write('fixed.csv', content);
    const given = { contacts: ['fixed.csv', '-'], standardInput: bytesOf(content) };
    const { campaign } = await prepare(given);
    expect(campaign.value.contacts.file).toEqual(['../fixed.csv', '-']);
  });

  test('a missing replacing file is reported with the option', async () => {
    expect(await problems({ contacts: ['none.csv'] })).toEqual([
      '--contacts: The contact file none.csv cannot be read (it does not exist).',
    ]);
  });
});

describe('open contact files are closed', () => {
  /** An endless stream, and whether it was closed. */
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

  test('open contact files are closed when another cannot be opened', async () => {
    const { standardInput, closed } = endless('phone,name,firm\n');
    await problems({ file: '["-", none.csv]', standardInput });
    expect(closed()).toBe(true);
  });

  test('open contact files are closed when the campaign does not fit them', async () => {
    const { standardInput, closed } = endless('phone,name,form\n');
    await problems({ file: '"-"', standardInput });
    expect(closed()).toBe(true);
  });

  test('open contact files are closed when the caller reads no contacts', async () => {
    const { standardInput, closed } = endless('phone,name,firm\n');
    await (await prepare({ file: '"-"', standardInput })).close();
    expect(closed()).toBe(true);
  });

  test('open contact files are closed when the caller stops reading', async () => {
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
