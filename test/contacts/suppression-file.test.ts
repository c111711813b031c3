import { describe, expect, test } from 'vitest';
import { createAddressReader } from '../../src/contacts/address.ts';
import { openContactFile, type Row } from '../../src/contacts/contact-file.ts';
import {
  type ListFile,
  readSuppressionFile,
  type SuppressedAddress,
  type SuppressionFileOptions,
} from '../../src/contacts/suppression-file.ts';
import type { Channel } from '../../src/domain/message.ts';
import { collect } from '../support/collect.ts';
import { problemsRejected } from '../support/thrown-problems.ts';

/** A file whose first line is the header, in one batch. */
function aFile([header = [], ...rows]: readonly (readonly string[])[]): ListFile {
  const batch = rows.map((values, index): Row => ({ kind: 'row', line: index + 2, values }));
  return { name: 'list.csv', header, batches: batchesOf([batch]), lines: () => 1 };
}

async function* batchesOf(batches: readonly (readonly Row[])[]): AsyncGenerator<readonly Row[]> {
  yield* batches;
}

function optionsFor(channels: readonly Channel[], others: Partial<SuppressionFileOptions> = {}) {
  const readAddress = createAddressReader(channels[0] ?? 'sms', 'NZ', 'allow');
  if (!readAddress) throw new Error('NZ is a country');
  return { channels, readAddress, ...others };
}

async function read(
  lines: readonly (readonly string[])[],
  options: SuppressionFileOptions = optionsFor(['sms']),
): Promise<SuppressedAddress[]> {
  return (await collect(readSuppressionFile(aFile(lines), options))).flat();
}

const suppressed = (line: number, address: string, subAccount = ''): SuppressedAddress => {
  return { kind: 'address', line, address, account: '', subAccount };
};

describe('readSuppressionFile', () => {
  test('each address is normalised and has its line', async () => {
    const rows = await read([
      ['Mobile', 'Name'],
      ['021 123 4567', 'Ann'],
      ['+61 412 345 678', 'Bob'],
    ]);
    expect(rows).toEqual([suppressed(2, '+64211234567'), suppressed(3, '+61412345678')]);
  });

  test('landlines can be suppressed for SMS too', async () => {
    expect(await read([['Mobile'], ['09 379 2000']])).toEqual([suppressed(2, '+6493792000')]);
  });

  test('lines without an address and broken lines are reported, and the others are read', async () => {
    const file: ListFile = {
      name: 'list.csv',
      header: ['Mobile'],
      lines: () => 1,
      batches: batchesOf([
        [
          { kind: 'row', line: 2, values: ['12'] },
          { kind: 'broken', line: 3, detail: 'a broken row', text: 'a,b' },
        ],
        [
          { kind: 'row', line: 4, values: ['0211234567'] },
          { kind: 'row', line: 5, values: [' '] },
        ],
      ]),
    };
    expect(await collect(readSuppressionFile(file, optionsFor(['sms'])))).toEqual([
      [
        { kind: 'unreadable', line: 2, detail: '"12" is not a number in use in NZ' },
        { kind: 'unreadable', line: 3, detail: 'a broken row' },
      ],
      [suppressed(4, '+64211234567'), { kind: 'unreadable', line: 5, detail: 'no phone number' }],
    ]);
  });

  test("a row without a SubAccount gets the list's", async () => {
    const lines = [
      ['SubAccount', 'Mobile'],
      [' ACME ', '0211234567'],
      ['', '0211234568'],
    ];
    expect(await read(lines)).toEqual([suppressed(2, '+64211234567', 'ACME'), suppressed(3, '+64211234568')]);
    expect(await read(lines, optionsFor(['sms'], { subAccount: 'TAS' }))).toEqual([
      suppressed(2, '+64211234567', 'ACME'),
      suppressed(3, '+64211234568', 'TAS'),
    ]);
  });
});

describe('the column of the addresses', () => {
  test.each<[string, readonly Channel[], readonly string[], string]>([
    ['the recipient column of the channel', ['sms'], ['Fax', 'Mobile', 'Name'], 'Mobile'],
    ['the column named for the channel', ['fax'], ['Fax', 'Mobile', 'Name'], 'Fax'],
    ['the column of the next channel if the first has no match', ['sms', 'fax'], ['Fax', 'Name'], 'Fax'],
    ['the only column, whatever its name', ['sms'], ['Opted out'], 'Opted out'],
    ['the only column besides the SubAccount', ['sms'], ['sub account', 'Opted out'], 'Opted out'],
  ])('the address column is found: %s', async (_, channels, header, column) => {
    const row = header.map((title) => (title === column ? '0211234567' : ''));
    expect(await read([header, row], optionsFor(channels))).toEqual([suppressed(2, '+64211234567')]);
  });

  test('the address column can be named', async () => {
    const options = optionsFor(['sms'], { column: 'b' });
    expect(
      await read(
        [
          ['a', 'b'],
          ['x', '0211234567'],
        ],
        options,
      ),
    ).toEqual([suppressed(2, '+64211234567')]);
  });

  test.each([
    [['a', 'b'], undefined, /^list\.csv: Expected one column of addresses, and found "a", "b"\. Name it/],
    [
      ['mobile', 'cell', 'x'],
      undefined,
      /^list\.csv: Expected one column of addresses, and found "mobile", "cell"/,
    ],
    [['SubAccount'], undefined, /^list\.csv: Expected one column of addresses/],
    [['a', 'b'], 'c', /^list\.csv: There is no column "c"\. The columns are "a", "b"\.$/],
  ])('the ambiguous columns %j are an error', async (header, column, expected) => {
    const options = optionsFor(['sms'], { column });
    expect(await problemsRejected(() => read([header], options))).toEqual([expect.stringMatching(expected)]);
  });
});

describe('a list without a header', () => {
  test('the first address of a list without a header has its own line', async () => {
    async function* bytes(): AsyncGenerator<Buffer> {
      yield Buffer.from('\n\n0211234567\n0211234568\n');
    }
    const file = await openContactFile(bytes(), 'list.csv');
    expect((await collect(readSuppressionFile(file, optionsFor(['sms'])))).flat()).toEqual([
      suppressed(3, '+64211234567'),
      suppressed(4, '+64211234568'),
    ]);
  });

  test('a list without a header begins with an address', async () => {
    expect(await read([['0211234567'], ['0211234568']])).toEqual([
      suppressed(1, '+64211234567'),
      suppressed(2, '+64211234568'),
    ]);
  });

  test('a list without a header can contain e-mail addresses', async () => {
    expect(await read([['Ann@Example.ORG'], ['bob@example.org']], optionsFor(['email']))).toEqual([
      suppressed(1, 'Ann@example.org'),
      suppressed(2, 'bob@example.org'),
    ]);
  });

  test.each<[Channel, string]>([
    ['sms', '021 123 45 (old)'],
    ['email', 'ann@example'],
  ])('a list can begin with an invalid address of %s, which is not a header', async (channel, first) => {
    expect(await read([[first]], optionsFor([channel]))).toMatchObject([{ kind: 'unreadable', line: 1 }]);
  });

  test('a list with a named column always has a header', async () => {
    const options = optionsFor(['sms'], { column: '0211234567' });
    expect(await read([['0211234567'], ['0211234568']], options)).toEqual([suppressed(2, '+64211234568')]);
  });
});
