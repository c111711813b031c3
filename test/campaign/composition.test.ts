import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCampaign } from '../../src/campaign/campaign.ts';
import { type Composition, compose } from '../../src/campaign/composition.ts';
import { createValueReader } from '../../src/campaign/mapping.ts';
import { mergeText } from '../../src/campaign/merge.ts';
import { createPersonaliser } from '../../src/campaign/personalise.ts';
import { render } from '../../src/campaign/placeholders.ts';
import { problemsThrown } from '../support/thrown-problems.ts';
import { composed, current, earlier, header, type Parts, personalised, yaml } from './parts.ts';

/** The rest of an envelope that has only fields. */
const withoutFiles = { keypads: [], files: [], audio: {} };

const problems = (parts: Parts) => problemsThrown(() => composed(parts));

describe('mapped columns', () => {
  test('a missing mapped column is reported with its position, the nearest column and all columns', () => {
    expect(
      problems({ columns: { Company: 'compny', Custom1: 'zzzzzz' }, message: { Message: 'Hi' } }),
    ).toEqual([
      `c.yaml:6:43: contacts.csv has no column "compny". Did you mean "company"? Its columns: ${header.join(', ')}.`,
      `c.yaml:6:62: contacts.csv has no column "zzzzzz". Its columns: ${header.join(', ')}.`,
    ]);
  });

  test('a mapped column is sent as its destination field, and omitted where it is empty', () => {
    const parts = { columns: { 'First Name': 'first', Company: 'company' }, message: { Message: 'Hi' } };
    expect(personalised(parts, { first: 'Ann' })).toEqual({
      kind: 'personalised',
      envelope: { fields: { Message: 'Hi' }, ...withoutFiles },
      destination: { 'First Name': 'Ann' },
    });
  });
});

describe('placeholders', () => {
  test('an unknown placeholder is an error with its position and the nearest name', () => {
    expect(
      problems({
        columns: { 'First Name': 'first' },
        message: { Message: 'Hi [[First Nam]] of [[citty]]', ChargeCode: '[[zzzzzzzz]]' },
      }),
    ).toEqual([
      'c.yaml:9:15: Unknown placeholder [[zzzzzzzz]] in "message.ChargeCode".',
      'c.yaml:8:12: Unknown placeholder [[First Nam]] in "message.Message". Did you mean "First Name"?',
      'c.yaml:8:12: Unknown placeholder [[citty]] in "message.Message". Did you mean "city"?',
    ]);
  });

  test('the nearest name of a placeholder with a fallback is found', () => {
    expect(problems({ message: { Message: 'Hi [[citty|there]]' } })).toEqual([
      'c.yaml:8:12: Unknown placeholder [[citty|there]] in "message.Message". Did you mean "city"?',
    ]);
  });

  test.each(['{{city}}', '{{ City }}', '{{{city}}}', '${city}', '{city}', '%city%', '«city»', '[city]'])(
    'a column in the syntax of another program is an error, because recipients would read %s',
    (written) => {
      expect(problems({ message: { Message: `Hi ${written}, [[city]]` } })).toEqual([
        `c.yaml:8:12: "message.Message": "${written}" would be sent as it stands. Write [[city]] for the column "city"; to send these characters, rename the column.`,
      ]);
    },
  );

  test('other braces, brackets and percent signs are ordinary text', () => {
    const Message = 'p { color: red } 5% city 6% [YES] {} [] %% {{}} <city> (city) {town}';
    expect(personalised({ message: { Message } }, {})).toMatchObject({ envelope: { fields: { Message } } });
  });

  test('an unclosed placeholder is an error', () => {
    expect(problems({ message: { Message: 'Hi [[first' } })).toEqual([
      'c.yaml:8:12: "message.Message": "[[first" is no placeholder; expected [[Column]] or [[Column|fallback]].',
    ]);
  });

  test.each(['__proto__', 'constructor', 'hasOwnProperty'])('a placeholder cannot be %s', (name) => {
    expect(problems({ message: { Message: `Hi [[${name}]]` } })).toEqual([
      expect.stringContaining(`Unknown placeholder [[${name}]]`),
    ]);
  });

  test('a placeholder can name a column, or its destination field', () => {
    const parts = { columns: { 'First Name': 'first' }, message: { Message: '[[First Name]] [[first]]' } };
    expect(personalised(parts, { first: 'Ann' })).toMatchObject({
      envelope: { fields: { Message: '[[First Name]] [[First Name]]' } },
      destination: { 'First Name': 'Ann' },
    });
  });

  test("a placeholder with a mapped field's name means the mapped column, even if the file has a column of that name", () => {
    const campaign = readCampaign(
      yaml({ columns: { Company: 'company' }, message: { Message: '[[Company]]' } }),
      'c.yaml',
    );
    const composition = compose(campaign, current, [...header, 'Company']);
    expect(composition.bindings).toEqual([{ field: 'Company', column: 'company', fallback: '' }]);
  });

  test.each(['[[STOP]]', '[[Reply]]', '[[REPLY]]', '[[File1]]', '[[Link:https://x.example/?a=1|2]]'])(
    'a placeholder of the service passes through in the text of an SMS: %s',
    (written) => {
      expect(
        personalised({ message: { Message: `Hi ${written}` }, files: [{ file: 'a.pdf' }] }, { STOP: 'no' }),
      ).toMatchObject({
        envelope: { fields: { Message: `Hi ${written}` } },
      });
    },
  );

  test.each(['[[Reply]]', '[[File1]]', '[[Link:https://x.example]]'])(
    'a placeholder of the service is refused elsewhere: %s',
    (written) => {
      const elsewhere: Parts[] = [
        { message: { Message: 'Hi', ChargeCode: written } },
        { channel: 'email', message: { MessagePlain: written } },
        { channel: 'fax', message: { Message: written } },
      ];
      for (const parts of elsewhere) {
        expect(problems({ ...parts, files: [{ file: 'a.pdf' }] })).toEqual([
          expect.stringContaining('Unknown placeholder'),
        ]);
      }
    },
  );

  test('a placeholder for a file that the campaign lacks is refused', () => {
    expect(
      problems({
        message: { Message: 'See [[File1]] and [[File3]]' },
        files: [{ file: 'a.pdf' }, { file: 'a.pdf' }],
      }),
    ).toEqual(['c.yaml:8:12: "message.Message": [[File3]] links to a file, and "files" has 2.']);
    expect(problems({ message: { Message: '[[File1]]' } })).toEqual([
      expect.stringContaining('"files" has none'),
    ]);
  });
});

describe('merging', () => {
  test('the service merges the text of an SMS, and Volley renders the rest', () => {
    const parts: Parts = {
      columns: { 'First Name': 'first' },
      message: { Message: '[[First Name|there]] in [[city]]', SubAccount: '[[state]]', Reference: 'n-[[n]]' },
    };
    expect(personalised(parts, { first: '', city: 'Leith', state: 'TAS', n: '7' })).toEqual({
      kind: 'personalised',
      envelope: {
        fields: { Message: '[[First Name]] in [[Custom1]]', SubAccount: 'TAS', Reference: 'n-7' },
        ...withoutFiles,
      },
      destination: { 'First Name': 'there', Custom1: 'Leith' },
    });
  });

  test('Volley renders the text of a contact with an empty value, because what the service inserts is unknown', () => {
    const parts = { message: { Message: 'Hi [[first]], from [[city|us]]', SubAccount: '[[state]]' } };
    expect(personalised(parts, { first: 'Ann', state: 'N' })).toMatchObject({
      envelope: { fields: { Message: 'Hi [[Custom1]], from [[Custom2]]', SubAccount: 'N' } },
      destination: { Custom1: 'Ann', Custom2: 'us' },
    });
    expect(personalised(parts, { city: 'Perth', state: 'N' })).toMatchObject({
      envelope: { fields: { Message: 'Hi , from Perth', SubAccount: 'N' } },
    });
  });

  test('Volley renders when there are too few destination fields', () => {
    const parts: Parts = { message: { Message: '[[first]] [[last]] [[city]] [[STOP]]' } };
    expect(composed(parts).merge).toEqual({
      kind: 'engine',
      why: 'no destination field is left for [[city]]',
    });
    expect(personalised(parts, { first: 'Ann', last: 'Lee', city: 'Leith' })).toEqual({
      kind: 'personalised',
      envelope: { fields: { Message: 'Ann Lee Leith [[STOP]]' }, ...withoutFiles },
      destination: {},
    });
  });

  test.each(['email', 'fax'] as const)(
    'Volley renders in a channel that the service does not merge: %s',
    (channel) => {
      const field = channel === 'email' ? 'MessagePlain' : 'Message';
      const { merge } = composed({ channel, message: { [field]: 'Hi [[first]]' } });
      expect(merge).toEqual({ kind: 'engine', why: 'the service does not merge here' });
    },
  );

  test('nothing is merged if only billing codes differ', () => {
    const message = {
      MessagePlain: 'Hi',
      SubAccount: '[[state]]',
      ChargeCode: '[[n]]',
      Department: '[[city]]',
    };
    expect(composed({ channel: 'email', message }).merge).toEqual({ kind: 'none' });
  });

  test('values are escaped only in MessageHTML', () => {
    const hostile = `<script>"&'</script>`;
    const parts: Parts = {
      channel: 'email',
      message: { EmailSubject: '[[note]]', MessagePlain: '[[note]]', MessageHTML: '<b>[[note]]</b> &amp;' },
    };
    expect(personalised(parts, { note: hostile })).toMatchObject({
      envelope: {
        fields: {
          EmailSubject: hostile,
          MessagePlain: hostile,
          MessageHTML: '<b>&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;</b> &amp;',
        },
      },
    });
  });
});

describe('earlier interfaces', () => {
  const sms = (Message: string): Parts => ({ account: earlier, message: { Message } });

  test('Volley fills the text of an SMS, and placeholders of the service pass through', () => {
    expect(composed(sms('Hi [[first]] [[STOP]]')).merge).toMatchObject({ kind: 'engine' });
    expect(personalised(sms('Hi [[first]] [[STOP]]'), { first: 'Ann' })).toMatchObject({
      envelope: { fields: { Message: 'Hi Ann [[STOP]]' } },
      destination: {},
    });
  });

  test('a value that the service would read as a placeholder makes its contact invalid', () => {
    expect(personalised(sms('Hi [[first]]'), { first: '[[STOP]]' })).toMatchObject({
      kind: 'invalid',
      column: 'first',
    });
  });

  test('a field can have the name that the interface gives it', () => {
    const parts: Parts = { account: earlier, message: { Message: 'Hi', ForceGSMChars: 'true' } };
    expect(personalised(parts, {})).toMatchObject({
      envelope: { fields: { Message: 'Hi', CharacterConversion: 'true' } },
    });
  });

  test('a faulty placeholder is reported under the key as written', () => {
    const parts: Parts = { account: earlier, message: { Message: 'Hi', ForceGSMChars: '[[gsm]]' } };
    expect(problemsThrown(() => composed(parts))).toEqual([
      'c.yaml:9:18: Unknown placeholder [[gsm]] in "message.ForceGSMChars".',
    ]);
  });
});

describe('invalid contacts', () => {
  const sms: Parts = { message: { Message: 'Hi [[note]]' } };

  test.each(['[[STOP]]', 'a [[x', '[['])(
    'a contact is invalid if its value would be a placeholder in an SMS: %s',
    (note) => {
      expect(personalised(sms, { note })).toEqual({
        kind: 'invalid',
        column: 'note',
        detail: 'contains "[[", which the service would read as a placeholder',
      });
    },
  );

  test('a contact is invalid if its value forms a placeholder with the text beside it', () => {
    const parts: Parts = { message: { Message: 'Hi [[[note]]' } };
    expect(personalised(parts, { note: 'Ann' })).toMatchObject({ kind: 'personalised' });
    expect(personalised(parts, { note: '[STOP]]' })).toMatchObject({ kind: 'invalid', column: 'Message' });
  });

  test('a value with brackets is valid where the service reads no placeholders', () => {
    const parts: Parts = { channel: 'email', message: { MessagePlain: '[[note]]' } };
    expect(personalised(parts, { note: '[[STOP]]' })).toMatchObject({
      envelope: { fields: { MessagePlain: '[[STOP]]' } },
    });
  });

  test('a contact is invalid if a value contains a NUL character', () => {
    expect(personalised(sms, { note: 'a\0b' })).toEqual({
      kind: 'invalid',
      column: 'note',
      detail: 'contains a NUL character',
    });
  });

  test.each([
    ['json', 'a\ud83d', 'contains U+D83D, half of a surrogate pair'],
    ['xml', 'a\ude00', 'contains U+DE00, half of a surrogate pair'],
    ['xml', 'a\u0007', 'contains U+0007, which XML cannot carry'],
    ['xml', 'a\uffff', 'contains U+FFFF, which XML cannot carry'],
  ] as const)('a contact is invalid if %s cannot carry its value %j', (format, note, detail) => {
    const account = { ...current, format };
    const everywhere: Parts[] = [
      { ...sms, account },
      { account, columns: { Company: 'note' }, message: { Message: 'Hi' } },
      { account, channel: 'email', message: { MessagePlain: 'Hi', EmailSubject: '[[note]]' } },
      { account, message: { Message: 'Hi' }, files: [{ file: 'a.pdf', name: '[[note]].pdf' }] },
    ];
    for (const parts of everywhere) {
      expect(personalised(parts, { note })).toEqual({ kind: 'invalid', column: 'note', detail });
    }
  });

  test('JSON carries a control character', () => {
    expect(personalised(sms, { note: 'a\u0007' })).toMatchObject({ kind: 'personalised' });
  });

  test.each([
    ['SendTime', '21/11/2026 18:30', 'expected a date and time such as 2026-11-21T18:30'],
    ['TimeZone', 'Mars', 'expected a time zone such as Pacific/Auckland'],
    ['WebhookCallbackURL', 'http://a.example/', 'expected a full address that begins with https://'],
  ])('a contact is invalid if its %s would be %s', (field, note, detail) => {
    const parts: Parts = { message: { Message: 'Hi', [field]: '[[note]]' } };
    expect(personalised(parts, { note })).toEqual({
      kind: 'invalid',
      column: field === 'WebhookCallbackURL' ? field : 'note',
      detail: expect.stringContaining(detail),
    });
  });

  test.each(['\r\nBcc: x@example.com', 'a\rb', 'a\nb'])(
    'a contact is invalid if a subject would contain a line break: %j',
    (note) => {
      const parts: Parts = { channel: 'email', message: { EmailSubject: 'Re [[note]]', MessagePlain: 'x' } };
      expect(personalised(parts, { note })).toEqual({
        kind: 'invalid',
        column: 'EmailSubject',
        detail: 'expected one line, got a line break in it.',
      });
    },
  );

  test('a contact is invalid if a name on an email or a fax would contain a line break', () => {
    const parts: Parts = { channel: 'email', columns: { Attention: 'note' }, message: { MessagePlain: 'x' } };
    expect(personalised(parts, { note: 'Ann\nBcc: y' })).toMatchObject({ kind: 'invalid', column: 'note' });
  });

  test('a text can contain a line break', () => {
    expect(personalised(sms, { note: 'two\nlines' })).toMatchObject({
      destination: { Custom1: 'two\nlines' },
    });
  });

  test('a contact is invalid if a field would be longer than the interface allows', () => {
    const parts: Parts = { message: { Message: 'Hi', Reference: 'R[[note]]' } };
    expect(personalised(parts, { note: 'x'.repeat(79) })).toMatchObject({ kind: 'personalised' });
    expect(personalised(parts, { note: 'x'.repeat(80) })).toEqual({
      kind: 'invalid',
      column: 'Reference',
      detail: 'expected at most 80 characters, got 81.',
    });
  });

  test.each(['often', '6', '[[x', '-1'])('a contact is invalid if a number would be %s', (n) => {
    const parts: Parts = { channel: 'fax', message: { Message: 'Hi', RetryAttempts: '[[n]]' } };
    expect(personalised(parts, { n: '5' })).toMatchObject({ envelope: { fields: { RetryAttempts: '5' } } });
    expect(personalised(parts, { n })).toMatchObject({ kind: 'invalid', column: 'RetryAttempts' });
  });

  test.each([
    ['sms', 'Message', 'Message'],
    ['email', 'MessageHTML', 'MessagePlain, MessageHTML, Template'],
    ['fax', 'Message', 'Message'],
  ] as const)('a contact is invalid if its %s would be empty', (channel, field, column) => {
    const parts: Parts = { channel, message: { [field]: ' [[note]]' } };
    expect(personalised(parts, { note: 'x' })).toMatchObject({ kind: 'personalised' });
    expect(personalised(parts, { note: ' ' })).toEqual({
      kind: 'invalid',
      column,
      detail: 'the message would be empty',
    });
  });

  test('an empty value elsewhere only omits the field', () => {
    const parts: Parts = { message: { Message: 'Hi', SubAccount: '[[state]]' } };
    expect(personalised(parts, {})).toMatchObject({
      kind: 'personalised',
      envelope: { fields: { Message: 'Hi' } },
    });
  });

  test('a very long value is valid where the interface sets no limit', () => {
    const note = 'x'.repeat(1_000_000);
    expect(personalised(sms, { note })).toMatchObject({ destination: { Custom1: note } });
  });
});

describe('merging by the service and by Volley', () => {
  const columns = ['first', 'city', 'note'];
  const named = [...columns, 'Attention', 'Company'];
  const mappings: readonly NonNullable<Parts['columns']>[] = [
    {},
    { 'First Name': 'first' },
    { Attention: '[[first]] [[note|x]]', Company: { value: 'A & [B]' } },
    { Attention: '[[city]][[note]]', Company: '[[first]]' },
  ];
  const piece = fc.oneof(
    fc.constantFrom(
      'Hi ',
      ', ',
      '[',
      ']',
      '$&',
      '$1',
      '\\',
      '\n',
      '|',
      '[[STOP]]',
      '[[Link:https://x.example]]',
    ),
    fc.constantFrom(...named).map((column) => `[[${column}]]`),
    fc
      .tuple(fc.constantFrom(...named), fc.constantFrom('there', '', ' ', '$&', '|'))
      .map(([column, fallback]) => `[[${column}|${fallback}]]`),
  );
  const value = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc
      .array(fc.constantFrom('[', ']', 'STOP', 'Custom1', 'First Name', '$&', '\0', '\r\n', ' '), {
        maxLength: 6,
      })
      .map((words) => words.join('')),
  );

  test('every recipient reads the same text, or is invalid because a value would be read as a placeholder or as nothing', () => {
    let merged = 0;
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 8 }),
        fc.record({ first: value, city: value, note: value }),
        fc.constantFrom(...mappings),
        fc.constantFrom(current, earlier),
        (pieces, row, columns, account) => {
          const source = pieces.join('');
          const parts = { account, columns, message: { Message: source } };
          const valueInFile = (column: string): string => ({ phone: '', ...row })[column] ?? '';
          let composition: Composition;
          try {
            composition = composed(parts);
          } catch {
            // Pieces can join to an open bracket, or to an unknown name.
            return;
          }
          const valueIn = createValueReader(composition.derived, valueInFile);
          const rendered = render(composition.serviceText?.template ?? [], valueIn);
          const result = createPersonaliser(composition)(valueInFile);
          const foreign = rendered.replaceAll(/\[\[(STOP|Link:https:\/\/x\.example)\]\]/g, '\u0001');
          if (result.kind === 'invalid') {
            const values = composition.usedColumns.map(valueIn).join('\u0001');
            const wouldBeRead = /\[\[|\0/.test(`${values}\u0001${foreign}`);
            expect(wouldBeRead || rendered.trim() === '').toBe(true);
            return;
          }
          const destination = { Recipient: '+61', ...result.destination };
          const { mergedFor } = mergeText(result.envelope.fields['Message'] ?? '');
          expect(mergedFor(destination)).toBe(rendered);
          if (composition.merge.kind === 'service') merged++;
        },
      ),
      { numRuns: 1500 },
    );
    expect(merged).toBeGreaterThan(50);
  });
});
