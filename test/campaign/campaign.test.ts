import { describe, expect, test } from 'vitest';
import { checkCampaign, readCampaign } from '../../src/campaign/campaign.ts';
import type { SendingAccount } from '../../src/campaign/sending-account.ts';
import { problemsThrown } from '../support/thrown-problems.ts';

const head = (channel: string) => `campaign: notice
account: main
channel: ${channel}
contacts:
  file: contacts.csv
  columns: { Recipient: address }
message:
`;

const sms = `${head('sms')}  Message: Hello\n`;
const email = `${head('email')}  EmailSubject: Hi\n  MessagePlain: Hello\n`;
const fax = `${head('fax')}  Message: Hello\n`;
const voice = `${head('voice')}  MessageToPeople: hello.wav\n`;
const tts = `${head('tts')}  MessageToPeople: Hello\n`;

function check(source: string, account: Partial<SendingAccount> = {}): void {
  checkCampaign(readCampaign(source, 'c.yaml'), {
    interface: 'rest-2.02',
    format: 'json',
    loopback: false,
    ...account,
  });
}

const problems = (source: string, account?: Partial<SendingAccount>) =>
  problemsThrown(() => check(source, account));

describe('readCampaign', () => {
  test('a minimal campaign gets defaults for the rest', () => {
    expect(readCampaign(sms, 'c.yaml').value).toEqual({
      campaign: 'notice',
      account: 'main',
      channel: 'sms',
      contacts: {
        file: ['contacts.csv'],
        skipLines: 0,
        landlines: 'reject',
        key: [],
        duplicates: 'merge',
        allowEmpty: false,
        maxInvalid: { share: 0.5 },
        minRecipients: 0,
        take: 'all',
        columns: { Recipient: 'address' },
        suppressions: [],
      },
      message: { Message: 'Hello' },
      files: [],
      dispatch: {
        chunkSize: 200,
        concurrency: 8,
        priority: 'normal',
        retries: 5,
        giveUpAfter: 3_600_000,
        repeat: 43_200_000,
        onUnknown: 'hold',
        resends: 3,
        onRejected: 'keep',
      },
    });
  });

  test.each(['0123', '+6421', 'no', '1e3', 'true'])('a message field keeps %s as written', (value) => {
    const { message } = readCampaign(`${sms}  ChargeCode: ${value}\n`, 'c.yaml').value;
    expect(message).toMatchObject({ ChargeCode: value });
  });

  test('every problem of a campaign is reported at once, each with its position', () => {
    const source = `${head('smss')}  Mesage: Hello
  SubAccount: [[state]]
dispatch: { chunkSize: 0, concurency: 4, retries: 21 }
files:
  - name: a.pdf
`;
    expect(problems(source)).toEqual([
      'c.yaml:3:10: "channel": expected email, sms, fax, voice or tts, got "smss". Did you mean "sms"?',
      'c.yaml:8:3: Unknown key "Mesage" in "message". Did you mean "Message"?',
      'c.yaml:9:15: "message.SubAccount": expected a text, got a list. A text that begins with "[" must be in quotes: "[[state]]".',
      'c.yaml:10:24: "dispatch.chunkSize": expected a whole number from 1 to 10000, got "0".',
      'c.yaml:10:27: Unknown key "concurency" in "dispatch". Did you mean "concurrency"? Known here: chunkSize, concurrency, priority, retries, giveUpAfter, onUnknown, resends, onRejected, failFast, repeat.',
      'c.yaml:10:51: "dispatch.retries": expected a whole number from 0 to 20, got "21".',
      'c.yaml:12:5: "files.0.file" is missing; expected a file to send, in a folder of `attachments`.',
    ]);
  });

  test('a missing key is reported with what was expected', () => {
    expect(problems('campaign: x\n')).toEqual([
      'c.yaml:1:1: "account" is missing; expected an account of the accounts file.',
      'c.yaml:1:1: "channel" is missing; expected email, sms, fax, voice or tts.',
      'c.yaml:1:1: "contacts" is missing; expected the contact files, and which of their rows and columns are sent.',
      expect.stringMatching(/^c\.yaml:1:1: "message" is missing; expected the message, in the interface/),
    ]);
  });

  test.each([
    ['contacts.columns', 'First Name', sms.replace('Recipient: address', 'Recipient: a, FirstName: b')],
    ['contacts', 'country', sms.replace('  file', '  coutry: AU\n  file')],
    ['files.0', 'name', `${sms}files:\n  - file: a\n    nam: b\n`],
  ])('an unknown key inside %s is reported with the nearest known key', (parent, near, source) => {
    expect(problems(source)).toEqual([
      expect.stringMatching(new RegExp(`Unknown key ".*" in "${parent}"\\. Did you mean "${near}"\\?`)),
    ]);
  });

  test.each([
    [
      'campaign',
      'notice of today',
      'expected 1 to 64 letters, digits, ".", "_" or "-", got "notice of today".',
    ],
    ['campaign', '../x', 'expected 1 to 64 letters, digits, ".", "_" or "-", got "../x".'],
    ['country', 'Australia', 'expected a two-letter country code in capitals, such as AU, got "Australia".'],
    ['country', 'au', 'expected a two-letter country code in capitals, such as AU, got "au".'],
  ])('a campaign cannot have %s %s', (key, value, what) => {
    const source =
      key === 'campaign'
        ? sms.replace('campaign: notice', `campaign: ${value}`)
        : sms.replace('  file', `  country: ${value}\n  file`);
    expect(problems(source)).toEqual([expect.stringContaining(what)]);
  });

  test('a campaign cannot have more than 20 files', () => {
    const files = Array.from({ length: 21 }, (_, index) => `  - file: ${index}.pdf\n`).join('');
    expect(problems(`${sms}files:\n${files}`)).toEqual([
      'c.yaml:10:3: "files": at most 20 files are allowed.',
    ]);
  });
});

describe('contacts.notWithin', () => {
  const within = (written: string) => sms.replace('  file', `  notWithin: ${written}\n  file`);

  test.each([
    ['7d', { milliseconds: 604_800_000, by: 'campaign' }],
    ['3650d', { milliseconds: 315_360_000_000, by: 'campaign' }],
    ['{ time: 12h }', { milliseconds: 43_200_000, by: 'campaign' }],
    ['{ time: 1s, by: any }', { milliseconds: 1_000, by: 'any' }],
  ])('contacts.notWithin accepts %s', (written, expected) => {
    expect(readCampaign(within(written), 'c.yaml').value.contacts.notWithin).toEqual(expected);
  });

  test.each(['0d', '999ms', '3651d', 'week', '{ by: any }', '{ time: 7d, by: all }', '[7d]'])(
    'contacts.notWithin refuses %s',
    (written) => {
      expect(problems(within(written))).toEqual([
        expect.stringMatching(
          /^c\.yaml:5:14: "contacts\.notWithin": expected a duration from 1s to 3650d, such as 90s, 45m, 12h or 7d, or \{ time: 7d, by: campaign \} or \{ time: 7d, by: any \}, got /,
        ),
      ]);
    },
  );
});

describe('the channel', () => {
  test.each(['sms', 'email', 'fax'])('the channel can be %s in rest-2.02', (channel) => {
    expect(() => check({ sms, email, fax }[channel] ?? '')).not.toThrow();
  });

  test.each(['voice', 'tts'])('the channel cannot be %s in rest-2.02', (channel) => {
    expect(problems(`${head(channel)}  Message: Hello\n`)).toEqual([
      `c.yaml:3:10: Interface rest-2.02 of account "main" has no channel "${channel}"; expected email, sms or fax.`,
    ]);
  });

  test('the channel can only be tts in SOAP', () => {
    expect(() => check(tts, { interface: 'soap-tts' })).not.toThrow();
    expect(problems(sms, { interface: 'soap-tts' })).toEqual([
      'c.yaml:3:10: Interface soap-tts of account "main" has no channel "sms"; expected tts.',
    ]);
  });

  test.each(['rest-1.02', 'rest-1.04'] as const)('every channel is allowed in %s', (earlier) => {
    for (const source of [sms, email, fax, voice, tts]) {
      expect(() => check(source, { interface: earlier })).not.toThrow();
    }
  });
});

describe('message fields', () => {
  test('a field of another channel is refused with the list of known fields', () => {
    expect(problems(`${sms}  EmailSubject: Hi\n  Resolution: High\n`)).toEqual([
      expect.stringMatching(
        /^c\.yaml:9:17: "message\.EmailSubject": not a field of sms in rest-2\.02\..* Its fields: Reference, .*CharacterConversion\.$/,
      ),
      expect.stringMatching(/^c\.yaml:10:15: "message\.Resolution": not a field of sms/),
    ]);
  });

  test.each(['true', 'false'])('a boolean field accepts %s', (value) => {
    expect(() => check(`${sms}  CharacterConversion: ${value}\n`)).not.toThrow();
  });

  test.each(['yes', 'True', '1', '"true "'])('a boolean field refuses %s', (value) => {
    expect(problems(`${sms}  CharacterConversion: ${value}\n`)).toEqual([
      `c.yaml:9:24: "message.CharacterConversion": expected true or false, got "${value.replaceAll('"', '')}".`,
    ]);
  });

  test.each(['0', '3', '60'])('a bounded number accepts %s', (value) => {
    expect(() => check(`${fax}  RetryPeriod: ${value}\n`)).not.toThrow();
  });

  test.each([
    ['-1', 'expected a whole number, got "-1".'],
    ['1.5', 'expected a whole number, got "1.5".'],
    ['often', 'expected a whole number, got "often".'],
    ['05', 'expected a whole number, got "05".'],
  ])('a bounded number refuses %s', (value, what) => {
    expect(problems(`${fax}  RetryPeriod: ${value}\n`)).toEqual([
      `c.yaml:9:16: "message.RetryPeriod": ${what}`,
    ]);
  });

  test('a listed value is accepted in upper or lower case', () => {
    for (const value of ['High', 'high', 'LOW']) {
      expect(() => check(`${fax}  Resolution: ${value}\n`)).not.toThrow();
    }
  });

  const rest1 = 'rest-1.04';
  test.each([
    [fax, 'Resolution: Fine', {}, 'expected Low or High, got "Fine".'],
    [fax, 'RetryAttempts: 9', {}, 'expected a whole number from 0 to 5, got 9.'],
    [fax, 'RetryPeriod: 61', {}, 'expected a whole number from 0 to 60, got 61.'],
    [tts, 'NumberOfOperators: 0', { interface: rest1 }, 'expected a whole number from 1 to 99999, got 0.'],
    [tts, 'NumberOfOperators: 100000', { interface: rest1 }, 'from 1 to 99999, got 100000.'],
    [sms, 'SendMode: Dry', { interface: rest1 }, 'expected Test or Normal, got "Dry".'],
    [sms, 'SendMode: Test', {}, 'rest-2.02 is not known to take SendMode, got "Test".'],
  ] as const)(
    'a value outside the observed ones is refused unless the account allows it: %s  %s',
    (source, field, account, what) => {
      const [name = '', value = ''] = field.split(': ');
      const [problem] = problems(`${source}  ${field}\n`, account);
      expect(problem).toContain(what);
      expect(problem).toContain(`allow it in the account: allow: { ${name}: [${value}] }.`);
      const allow = { [name]: [value] };
      expect(() => check(`${source}  ${field}\n`, { ...account, allow })).not.toThrow();
    },
  );

  test('an account can allow any value of a range, and only the values that it names', () => {
    const allow = { RetryAttempts: ['7', '9-12'] };
    for (const value of [7, 9, 12]) {
      expect(() => check(`${fax}  RetryAttempts: ${value}\n`, { allow })).not.toThrow();
    }
    for (const value of [6, 8, 13]) {
      expect(problems(`${fax}  RetryAttempts: ${value}\n`, { allow })).toHaveLength(1);
    }
    expect(
      problems(`${sms}  WebhookCallbackFormat: CSV\n`, { allow: { WebhookCallbackFormat: ['CSV'] } }),
    ).toEqual(['c.yaml:9:26: "message.WebhookCallbackFormat": expected JSON or XML, got "CSV".']);
  });

  test('a value above a documented limit is refused, and one above an observed limit is not', () => {
    expect(() =>
      check(`${sms}  Reference: ${'x'.repeat(80)}\n  SubAccount: ${'x'.repeat(99)}\n`),
    ).not.toThrow();
    expect(problems(`${sms}  Reference: ${'x'.repeat(81)}\n`)).toEqual([
      'c.yaml:9:14: "message.Reference": expected at most 80 characters, got 81.',
    ]);
  });

  test('fields other than the text must be one line, because a line break would forge a mail header', () => {
    expect(
      problems(`${head('email')}  MessagePlain: Hello\n  EmailSubject: "Hi\\r\\nBcc: x@example.com"\n`),
    ).toEqual(['c.yaml:9:17: "message.EmailSubject": expected one line, got a line break in it.']);
    expect(() =>
      check(`${head('email')}  EmailSubject: Hi\n  MessagePlain: |\n    two\n    lines\n`),
    ).not.toThrow();
  });

  test('a field with placeholders is checked when they are filled', () => {
    expect(() => check(`${fax}  RetryPeriod: "[[minutes]]"\n  Resolution: "[[quality]]"\n`)).not.toThrow();
  });
});

describe('the content of a message', () => {
  test.each([
    ['sms', 'The sms has no content; expected Message.'],
    ['email', 'The email has no content; expected MessagePlain, MessageHTML or Template.'],
    ['fax', 'The fax has no content; expected Message or "files".'],
  ])('a message without content is refused: %s', (channel, what) => {
    const subject = channel === 'email' ? '  EmailSubject: Hi\n' : '';
    expect(problems(`${head(channel)}  Reference: R\n${subject}`)).toEqual([`c.yaml:8:3: ${what}`]);
  });

  test('an email has a subject, unless the account allows none', () => {
    const without = `${head('email')}  MessagePlain: Hello\n`;
    expect(problems(without)).toEqual([
      'c.yaml:8:3: The email has no EmailSubject. If your service accepts it without, allow it in the account: allow: { EmailSubject: [""] }.',
    ]);
    expect(() => check(without, { allow: { EmailSubject: [''] } })).not.toThrow();
  });

  test.each(['voice', 'tts'])('a call without content is refused: %s', (channel) => {
    expect(problems(`${head(channel)}  Reference: R\n`, { interface: 'rest-1.04' })).toEqual([
      `c.yaml:8:3: The ${channel} has no content; expected MessageToPeople.`,
    ]);
  });

  test('the content cannot be blank', () => {
    expect(problems(`${head('sms')}  Message: "  "\n`)).toEqual([
      'c.yaml:8:3: The sms has no content; expected Message.',
    ]);
  });

  test('an email can have HTML alone, or a template', () => {
    expect(() => check(`${head('email')}  EmailSubject: Hi\n  MessageHTML: <p>Hi</p>\n`)).not.toThrow();
    expect(() => check(`${head('email')}  EmailSubject: Hi\n  Template: welcome\n`)).not.toThrow();
  });

  test('a fax can have files alone', () => {
    expect(() => check(`${head('fax')}  Reference: R\nfiles:\n  - file: a.pdf\n`)).not.toThrow();
  });
});

describe('addresses and numbers in a message', () => {
  test.each(['FromEmail', 'SMTPFrom', 'CCEmail', 'ReplyTo'])('%s is an e-mail address', (field) => {
    expect(problems(`${email}  ${field}: "not an address"\n`)).toEqual([
      expect.stringContaining(
        `"message.${field}": expected an e-mail address such as info@example.com, got "not an address".`,
      ),
    ]);
    expect(() => check(`${email}  ${field}: info@example.com\n`)).not.toThrow();
    expect(() => check(`${email}  ${field}: "[[address]]"\n`)).not.toThrow();
  });

  test('SMSEmailReply is an e-mail address, and FromNumber a number or a short code', () => {
    expect(problems(`${sms}  SMSEmailReply: ops\n  FromNumber: Volley\n`)).toEqual([
      expect.stringContaining('"message.FromNumber": expected the digits of a number or short code'),
      expect.stringContaining('"message.SMSEmailReply": expected an e-mail address'),
    ]);
    for (const number of ['"4500"', '"+6421345678"', '"6421345678"'])
      expect(() => check(`${sms}  SMSEmailReply: ops@example.com\n  FromNumber: ${number}\n`)).not.toThrow();
  });

  test.each(['anonymous', '"021 345 678"', '"+0213456"'])(
    'CallerID is a number in E.164, and not %s',
    (number) => {
      const account = { interface: 'rest-1.04' } as const;
      expect(problems(`${tts}  CallerID: ${number}\n`, account)).toEqual([
        expect.stringContaining('"message.CallerID": expected a number in E.164 such as +6493012345'),
      ]);
      expect(() => check(`${tts}  CallerID: "+6493012345"\n`, account)).not.toThrow();
    },
  );

  test('a limit counts characters, not their halves in memory', () => {
    const reference = (text: string) => `${sms}  Reference: "${text}"\n`;
    expect(() => check(reference('😀'.repeat(80)))).not.toThrow();
    expect(problems(reference('😀'.repeat(81)))).toEqual([
      expect.stringContaining('expected at most 80 characters, got 81.'),
    ]);
  });
});

describe('destination fields', () => {
  const named = sms.replace('Recipient: address', 'Recipient: address, First Name: first');

  test('every destination field of the current interface can be mapped', () => {
    expect(() => check(named)).not.toThrow();
  });

  test('a destination field that an earlier interface lacks cannot be mapped there', () => {
    expect(problems(named, { interface: 'rest-1.04' })).toEqual([
      'c.yaml:6:46: "contacts.columns.First Name": not a destination field of rest-1.04. Its fields: Recipient, Attention, Company, Custom1, Custom2.',
    ]);
  });
});

describe('files', () => {
  const files = 'files:\n  - file: a.pdf\n';

  test('a call cannot have files', () => {
    expect(problems(`${voice}${files}`, { interface: 'rest-1.02' })).toEqual([
      'c.yaml:10:3: "files": voice in rest-1.02 has no files.',
    ]);
  });

  test('paths and names of files must be one line of text', () => {
    expect(problems(`${sms}files:\n  - { file: "a\\nb", name: " " }\n`)).toEqual([
      'c.yaml:10:13: "files.0.file": expected one line, got a line break in it.',
      'c.yaml:10:27: "files.0.name": expected a text, got nothing.',
    ]);
  });
});

describe('keypads', () => {
  const keypads = (...lines: string[]) =>
    `${tts}  Keypads:\n${lines.map((line) => `    - ${line}\n`).join('')}`;
  const inSoap = { interface: 'soap-tts' } as const;

  test('keypads give a number to each button, in any order', () => {
    const source = keypads('{ Tone: 9, RouteNumber: +6491 }', '{ Tone: 1, RouteNumber: "[[number]]" }');
    expect(() => check(source, inSoap)).not.toThrow();
    expect(() => check(source, { interface: 'rest-1.04' })).not.toThrow();
  });

  test.each(['0', '10', '"*"', '1.5'])('keypads cannot have the button %s', (tone) => {
    expect(problems(keypads(`{ Tone: ${tone}, RouteNumber: +6491 }`))).toEqual([
      `c.yaml:10:15: "message.Keypads.0.Tone": expected a button from 1 to 9, got "${tone.replaceAll('"', '')}".`,
    ]);
  });

  test('keypads cannot have a button twice', () => {
    const source = keypads('{ Tone: 1, RouteNumber: +6491 }', '{ Tone: 1, RouteNumber: +6492 }');
    expect(problems(source)).toEqual([
      'c.yaml:11:15: "message.Keypads.1.Tone": expected each button once, got "1".',
    ]);
  });

  test('keypads have at most 9 buttons', () => {
    const lines = Array.from(
      { length: 10 },
      (_, index) => `{ Tone: ${(index % 9) + 1}, RouteNumber: +6491 }`,
    );
    expect(problems(keypads(...lines))).toContain(
      'c.yaml:10:5: "message.Keypads": a telephone has at most 9 buttons.',
    );
  });

  test('the number of a button must be one line of text', () => {
    const source = keypads('{ Tone: 1, RouteNumber: " " }', '{ Tone: 2, RouteNumber: "1\\n2" }');
    expect(problems(source, inSoap)).toEqual([
      'c.yaml:10:31: "message.Keypads.0.RouteNumber": expected a text, got nothing.',
      'c.yaml:11:31: "message.Keypads.1.RouteNumber": expected one line, got a line break in it.',
    ]);
  });

  test('only calls can have keypads', () => {
    expect(problems(`${sms}  Keypads: [{ Tone: 1, RouteNumber: +6491 }]\n`)).toEqual([
      expect.stringMatching(/^c\.yaml:9:12: "message\.Keypads": not a field of sms in rest-2\.02\./),
    ]);
  });
});

describe('the address of delivery reports', () => {
  const reports = (url: string) => `${sms}  WebhookCallbackURL: ${url}\n`;
  const refusal = (url: string) =>
    `c.yaml:9:23: "message.WebhookCallbackURL": expected a full address that begins with https://, got "${url}".`;

  test.each(['https://reports.example/', 'https://reports.example:8443/a?b=c'])(
    'the address of delivery reports can be %s',
    (url) => {
      expect(() => check(reports(url))).not.toThrow();
    },
  );

  test.each([
    'reports.example',
    'http://reports.example/',
    'https://',
    'https://a b/',
    'HTTPS://reports.example/',
    'http://127.0.0.1:8080/',
  ])('the address of delivery reports cannot be %s', (url) => {
    expect(problems(reports(url))).toEqual([refusal(url)]);
  });

  test('the address of delivery reports can be http on this machine if the account is on this machine', () => {
    expect(() => check(reports('http://127.0.0.1:8080/'), { loopback: true })).not.toThrow();
    expect(problems(reports('http://reports.example/'), { loopback: true })).toEqual([
      refusal('http://reports.example/'),
    ]);
  });
});

describe('the MessageID', () => {
  test('a MessageID is refused because Volley creates it', () => {
    expect(problems(`${sms}  MessageID: abc1\n`)).toEqual([
      'c.yaml:9:14: "message.MessageID": Volley creates it (at most 40 letters and digits, unique to each request); remove it from the campaign.',
    ]);
  });
});

describe('times and zones', () => {
  const timed = (time: string, zone: string) => `${sms}  SendTime: ${time}\n  TimeZone: ${zone}\n`;

  test('times and zones have the same form for every interface', () => {
    const source = timed('2026-11-21T18:30', 'Pacific/Auckland');
    expect(() => check(source)).not.toThrow();
    expect(() => check(source, { interface: 'rest-1.02' })).not.toThrow();
  });

  test('an invalid time and an invalid zone are refused', () => {
    expect(problems(timed('21/11/2026 18:30', 'Middle Earth'))).toEqual([
      'c.yaml:9:13: "message.SendTime": expected a date and time such as 2026-11-21T18:30, got "21/11/2026 18:30".',
      'c.yaml:10:13: "message.TimeZone": expected a time zone such as Pacific/Auckland or AUS Eastern, got "Middle Earth".',
    ]);
  });

  test('a time or a zone that the interface cannot express is refused', () => {
    expect(problems(timed('2026-11-21T18:30:15', 'Pacific/Auckland'), { interface: 'rest-1.04' })).toEqual([
      'c.yaml:9:13: "message.SendTime": expected a time without seconds, which rest-1.04 cannot express, got "2026-11-21T18:30:15".',
    ]);
  });
});

describe('characters', () => {
  const xml = { format: 'xml' } as const;

  test('a character that XML cannot carry is refused there, with placeholders or without', () => {
    const source = `${head('sms')}  Message: "Hi \\a"\n  Reference: "[[n]] \\uFFFF"\nfiles: [{ file: a.pdf, name: "\\x01" }]\n`;
    expect(problems(source, xml)).toEqual([
      'c.yaml:9:14: "message.Reference": contains U+FFFF, which XML cannot carry.',
      'c.yaml:8:12: "message.Message": contains U+0007, which XML cannot carry.',
      'c.yaml:10:30: "files.0.name": contains U+0001, which XML cannot carry.',
    ]);
    expect(() => check(source)).not.toThrow();
  });

  test.each(['json', 'xml'] as const)('half of a surrogate pair is refused for %s', (format) => {
    expect(problems(`${head('sms')}  Message: "\\ud83d"\n`, { format })).toEqual([
      'c.yaml:8:12: "message.Message": contains U+D83D, half of a surrogate pair.',
    ]);
  });

  test('a NUL character is refused because the ledger cannot store it', () => {
    expect(problems(`${head('sms')}  Message: "a\\0"\n`)).toEqual([
      'c.yaml:8:12: "message.Message": contains a NUL character.',
    ]);
  });
});

describe('a key of an earlier REST interface', () => {
  const source = `${sms}  ForceGSMChars: true\n`;

  test('a key of an earlier REST interface sets its field there', () => {
    expect(() => check(source, { interface: 'rest-1.02' })).not.toThrow();
    expect(problems(source.replace('true', 'yes'), { interface: 'rest-1.02' })).toEqual([
      'c.yaml:9:18: "message.ForceGSMChars": expected true or false, got "yes".',
    ]);
  });

  test('a key of an earlier REST interface is refused next to the name of its field', () => {
    expect(problems(`${source}  CharacterConversion: true\n`, { interface: 'rest-1.02' })).toEqual([
      'c.yaml:9:18: "message.ForceGSMChars": the same field as "message.CharacterConversion"; set one of the two.',
    ]);
  });

  test('a key of an earlier REST interface is refused in the current one, with its name there', () => {
    expect(problems(source)).toEqual([
      expect.stringMatching(
        /^c\.yaml:9:18: "message\.ForceGSMChars": not a field of sms in rest-2\.02\. In this interface it is "CharacterConversion"\./,
      ),
    ]);
  });

  test('the name of a SOAP element is not a key', () => {
    expect(problems(`${tts}  caller_id: +6491\n`, { interface: 'soap-tts' })).toEqual([
      'c.yaml:9:3: Unknown key "caller_id" in "message". Did you mean "CallerID"?',
    ]);
  });
});
