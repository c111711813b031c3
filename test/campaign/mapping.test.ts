import { describe, expect, test } from 'vitest';
import { checkCampaign, readCampaign } from '../../src/campaign/campaign.ts';
import { type Composition, compose } from '../../src/campaign/composition.ts';
import { createPersonaliser } from '../../src/campaign/personalise.ts';
import type { Channel } from '../../src/domain/message.ts';
import { problemsThrown } from '../support/thrown-problems.ts';
import { current, earlier, personalised } from './parts.ts';

type Asked = {
  readonly contacts?: Readonly<Record<string, unknown>>;
  readonly channel?: Channel;
  readonly message?: Readonly<Record<string, string>>;
  readonly header?: readonly string[];
  readonly account?: typeof current;
};

const names = ['mobile', 'email', 'first_name', 'last_name', 'company', 'state'];

function mapped({
  contacts = {},
  channel = 'sms',
  message,
  header = names,
  account = current,
}: Asked): Composition {
  const text =
    message ?? (channel === 'email' ? { EmailSubject: 'Hi', MessagePlain: 'Hi' } : { Message: 'Hi' });
  const source = [
    'campaign: test',
    'account: main',
    `channel: ${channel}`,
    `contacts: ${JSON.stringify({ file: 'c.csv', ...contacts })}`,
    `message: ${JSON.stringify(text)}`,
  ].join('\n');
  const campaign = readCampaign(source, 'c.yaml');
  checkCampaign(campaign, account);
  return compose(campaign, account, header);
}

const problems = (asked: Asked) => problemsThrown(() => mapped(asked));

const guessed = (field: string, source: string) => ({ field, kind: 'guessed', source });

describe('mapColumns without "columns"', () => {
  const all = '[[First Name]] [[Last Name]], [[Company]]';

  test('all fields are guessed from the header and the channel', () => {
    const others = [
      guessed('First Name', 'first_name'),
      guessed('Last Name', 'last_name'),
      guessed('Company', 'company'),
    ];
    expect(mapped({ message: { Message: all } }).mapping).toEqual([
      guessed('Recipient', 'mobile'),
      ...others,
    ]);
    const email = { channel: 'email', message: { EmailSubject: 'Hi', MessagePlain: all } } as const;
    expect(mapped(email).mapping).toEqual([guessed('Recipient', 'email'), ...others]);
  });

  test('a guess is not sent if the message does not use it, or only Volley merges it', () => {
    const used = mapped({ message: { Message: 'Hi [[first_name]]' } });
    expect(used.mapping).toEqual([guessed('Recipient', 'mobile'), guessed('First Name', 'first_name')]);
    expect(used.bindings.map(({ field }) => field)).toEqual(['First Name']);
    expect(mapped({}).bindings).toEqual([]);
    const rendered = mapped({ channel: 'email', message: { EmailSubject: 'Hi', MessagePlain: all } });
    expect([rendered.bindings, rendered.mapping.length]).toEqual([[], 4]);
  });

  test('a guess is used like a written mapping: in placeholders and in the destination', () => {
    const composition = mapped({ message: { Message: 'Hi [[First Name]]' } });
    expect(createPersonaliser(composition)((column) => (column === 'first_name' ? 'Ann' : ''))).toMatchObject(
      {
        envelope: { fields: { Message: 'Hi [[First Name]]' } },
        destination: { 'First Name': 'Ann' },
      },
    );
  });

  test('only fields of the interface are guessed', () => {
    const message = { Message: '[[first_name]] [[Company]]' };
    expect(mapped({ account: earlier, message }).mapping.map(({ field }) => field)).toEqual([
      'Recipient',
      'Company',
    ]);
  });

  test('a field with two likely columns stays empty', () => {
    const { mapping } = mapped({ header: ['mobile', 'First Name', 'first_name'] });
    expect(mapping).toEqual([guessed('Recipient', 'mobile')]);
  });

  test('a recipient with two likely columns is an error that names both', () => {
    expect(problems({ header: ['mobile', 'cell', 'phone'] })).toEqual([
      'c.yaml:4:11: The columns mobile, cell of c.csv could each be the recipient of sms. Set it with "contacts.columns": { Recipient: … }.',
    ]);
  });

  test.each([['021000301'], ['+64 21 000 301'], ['ann@example.org']])(
    'a file whose first line is a recipient (%s) has no header',
    (own) => {
      expect(problems({ header: [own, 'Ann', 'Auckland'] })).toEqual([
        `c.yaml:4:11: c.csv has no header: "${own}" is a recipient. Insert a first line with the column names.`,
      ]);
    },
  );

  test('a recipient without a likely column is an error that names all columns', () => {
    expect(problems({ header: ['id', 'email'] })).toEqual([
      'c.yaml:4:11: No column of c.csv has a usual name for the recipient of sms. Set it with "contacts.columns": { Recipient: … }. Its columns: id, email.',
    ]);
  });
});

describe('mapColumns with "columns"', () => {
  test('only the written fields are sent', () => {
    const { mapping, recipientColumn } = mapped({
      contacts: { columns: { Recipient: 'state', Company: 'email' } },
    });
    expect(recipientColumn).toBe('state');
    expect(mapping).toEqual([
      { field: 'Recipient', kind: 'column', source: 'state' },
      { field: 'Company', kind: 'column', source: 'email' },
    ]);
  });

  test('a missing recipient is guessed', () => {
    expect(mapped({ contacts: { columns: {} } }).mapping).toEqual([guessed('Recipient', 'mobile')]);
  });
});

describe('a field with a template', () => {
  const parts = {
    columns: { Attention: '[[first|Dear]] [[last]]' },
    message: { Message: 'Hi [[Attention]]' },
  };

  test('a field with a template is sent, and the service can merge it', () => {
    expect(personalised(parts, { first: 'Ann', last: 'Lee' })).toMatchObject({
      envelope: { fields: { Message: 'Hi [[Attention]]' } },
      destination: { Attention: 'Ann Lee' },
    });
  });

  test('a template has fallbacks, and no spaces where its first or last part is empty', () => {
    expect(personalised(parts, {})).toMatchObject({ destination: { Attention: 'Dear' } });
    const columns = { Attention: '[[first]] [[last]]' };
    expect(personalised({ ...parts, columns }, { last: 'Lee' })).toMatchObject({
      destination: { Attention: 'Lee' },
    });
  });

  test('Volley renders a template that is empty for a contact', () => {
    const columns = { Attention: '[[first]] [[last]]' };
    expect(personalised({ ...parts, columns }, {})).toMatchObject({
      envelope: { fields: { Message: 'Hi ' } },
      destination: {},
    });
  });

  test('a template is escaped in HTML', () => {
    const email = {
      channel: 'email',
      columns: parts.columns,
      message: { MessageHTML: '[[Attention]]' },
    } as const;
    expect(personalised(email, { first: '<b>', last: '&' })).toMatchObject({
      envelope: { fields: { MessageHTML: '&lt;b&gt; &amp;' } },
    });
  });

  test('a field with a template does not replace a column with the name of the field', () => {
    const composition = mapped({
      header: ['mobile', 'Attention', 'first'],
      contacts: { columns: { Attention: 'To [[Attention]]', Company: 'Attention' } },
    });
    const row: Record<string, string> = { Attention: 'Ann' };
    expect(createPersonaliser(composition)((column) => row[column] ?? '')).toMatchObject({
      destination: { Attention: 'To Ann', Company: 'Ann' },
    });
  });

  test('a contact is invalid if its values form a placeholder, alone or together', () => {
    expect(personalised(parts, { first: '[[STOP]]' })).toMatchObject({ kind: 'invalid', column: 'first' });
    const columns = { Attention: '[[first]][[last]]' };
    expect(personalised({ ...parts, columns }, { first: '[', last: '[STOP]]' })).toMatchObject({
      kind: 'invalid',
      column: '[[Attention]]',
    });
  });

  test('a template with an unknown column or an unclosed bracket is an error', () => {
    const columns = { Attention: '[[first_nam]] [[STOP]]', Company: 'x [[state' };
    expect(problems({ contacts: { columns } })).toEqual([
      'c.yaml:4:50: Unknown column [[first_nam]] in "contacts.columns.Attention". Did you mean "first_name"?',
      'c.yaml:4:50: Unknown column [[STOP]] in "contacts.columns.Attention".',
      'c.yaml:4:85: "contacts.columns.Company": "[[state" is no placeholder; expected [[Column]] or [[Column|fallback]].',
    ]);
  });

  test('the error names the field when no destination field is left for its template', () => {
    const { merge } = mapped({
      contacts: { columns: { Attention: '[[state]]' } },
      message: { Message: '[[Attention|a]] [[Attention|b]] [[Attention|c]] [[Attention|d]]' },
    });
    expect(merge).toEqual({ kind: 'engine', why: 'no destination field is left for [[Attention]]' });
  });
});

describe('a constant field', () => {
  test('a constant field is sent to every recipient, and the service can merge it', () => {
    const parts = {
      columns: { Company: { value: 'Example Ltd' } },
      message: { Message: 'Hi [[first]] from [[Company|nobody]]' },
    };
    expect(personalised(parts, { first: 'Ann' })).toMatchObject({
      destination: { Company: 'Example Ltd' },
    });
  });

  test.each([
    ['a line break', 'a\nb', 'expected one line'],
    ['nothing to see', ' ', 'expected a text'],
    ['a NUL character', 'a\0', 'contains a NUL character'],
    ['a placeholder', '[[STOP]]', 'expected a constant without [['],
  ])('a constant field with %s is refused', (_, value, what) => {
    expect(problems({ contacts: { columns: { Company: { value } } } })).toEqual([
      expect.stringContaining(what),
    ]);
  });
});

test('the recipient can be neither a template nor a constant', () => {
  expect(problems({ contacts: { columns: { Recipient: '0[[mobile]]' } } })).toEqual([
    expect.stringContaining('"contacts.columns.Recipient": expected the name of one column, without [[ ]]'),
  ]);
  expect(problems({ contacts: { columns: { Recipient: { value: '0458665290' } } } })).toEqual([
    expect.stringContaining('"contacts.columns.Recipient": expected a text, got keys with values.'),
  ]);
});

test('a field that is a list, or has a key other than value, is an error with what was expected', () => {
  for (const Company of [['state'], { constant: 'x' }]) {
    expect(problems({ contacts: { columns: { Company } } })).toEqual([
      expect.stringContaining(
        '"contacts.columns.Company": expected a column, a text in quotes such as "[[first]] [[last]]", or { value: … }',
      ),
    ]);
  }
});

test('the country column must exist, except for an email', () => {
  expect(problems({ contacts: { countryColumn: 'stat' } })).toEqual([
    expect.stringContaining('c.csv has no column "stat". Did you mean "state"?'),
  ]);
  expect(mapped({ contacts: { countryColumn: 'state' } }).countryColumn).toBe('state');
  expect(mapped({ channel: 'email', contacts: { countryColumn: 'state' } }).countryColumn).toBeUndefined();
});
