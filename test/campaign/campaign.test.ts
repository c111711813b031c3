import { describe, expect, test } from 'vitest';
import { checkCampaign, readCampaign } from '../../src/campaign/campaign.ts';
import type { CampaignTarget } from '../../src/campaign/target.ts';
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
const email = `${head('email')}  MessagePlain: Hello\n`;
const fax = `${head('fax')}  Message: Hello\n`;
const voice = `${head('voice')}  MessageToPeople: hello.wav\n`;
const tts = `${head('tts')}  MessageToPeople: Hello\n`;

function check(source: string, target: Partial<CampaignTarget> = {}): void {
  checkCampaign(readCampaign(source, 'c.yaml'), {
    interface: 'rest-2.02',
    format: 'json',
    loopback: false,
    ...target,
  });
}

const problems = (source: string, target?: Partial<CampaignTarget>) =>
  problemsThrown(() => check(source, target));

describe('a campaign', () => {
  test('needs little: the rest has defaults', () => {
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

  test.each(['0123', '+6421', 'no', '1e3', 'true'])('keeps the writing of %s in a message field', (value) => {
    const { message } = readCampaign(`${sms}  ChargeCode: ${value}\n`, 'c.yaml').value;
    expect(message).toMatchObject({ ChargeCode: value });
  });

  test('is told every mistake at once, each with its place', () => {
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
      'c.yaml:12:5: "files.0.file" is missing; expected a file to send, in the campaign\'s folder.',
    ]);
  });

  test('is told what is missing, and what belongs there', () => {
    expect(problems('campaign: x\n')).toEqual([
      'c.yaml:1:1: "account" is missing; expected an account of the accounts file.',
      'c.yaml:1:1: "channel" is missing; expected email, sms, fax, voice or tts.',
      'c.yaml:1:1: "contacts" is missing; expected the contact files, and which of their rows and columns are sent.',
      expect.stringMatching(/^c\.yaml:1:1: "message" is missing; expected the message, under the/),
    ]);
  });

  test.each([
    ['contacts.columns', 'First Name', sms.replace('Recipient: address', 'Recipient: a, FirstName: b')],
    ['contacts', 'country', sms.replace('  file', '  coutry: AU\n  file')],
    ['files.0', 'name', `${sms}files:\n  - file: a\n    nam: b\n`],
  ])('is told the nearest known key inside %s', (parent, near, source) => {
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
  ])('cannot have %s %s', (key, value, what) => {
    const source =
      key === 'campaign'
        ? sms.replace('campaign: notice', `campaign: ${value}`)
        : sms.replace('  file', `  country: ${value}\n  file`);
    expect(problems(source)).toEqual([expect.stringContaining(what)]);
  });

  test('cannot have more than 20 files', () => {
    const files = Array.from({ length: 21 }, (_, index) => `  - file: ${index}.pdf\n`).join('');
    expect(problems(`${sms}files:\n${files}`)).toEqual([
      'c.yaml:10:3: "files": at most 20 files can be sent along.',
    ]);
  });
});

describe('the time within which nobody is sent to again', () => {
  const within = (written: string) => sms.replace('  file', `  notWithin: ${written}\n  file`);

  test.each([
    ['7d', { milliseconds: 604_800_000, by: 'campaign' }],
    ['3650d', { milliseconds: 315_360_000_000, by: 'campaign' }],
    ['{ time: 12h }', { milliseconds: 43_200_000, by: 'campaign' }],
    ['{ time: 1s, by: any }', { milliseconds: 1_000, by: 'any' }],
  ])('can be %s', (written, expected) => {
    expect(readCampaign(within(written), 'c.yaml').value.contacts.notWithin).toEqual(expected);
  });

  test.each(['0d', '999ms', '3651d', 'week', '{ by: any }', '{ time: 7d, by: all }', '[7d]'])(
    'cannot be %s',
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
  test.each(['sms', 'email', 'fax'])('can be %s in rest-2.02', (channel) => {
    expect(() => check({ sms, email, fax }[channel] ?? '')).not.toThrow();
  });

  test.each(['voice', 'tts'])('cannot be %s in rest-2.02', (channel) => {
    expect(problems(`${head(channel)}  Message: Hello\n`)).toEqual([
      `c.yaml:3:10: Interface rest-2.02 of account "main" has no channel "${channel}"; expected email, sms or fax.`,
    ]);
  });

  test('can only be tts in SOAP', () => {
    expect(() => check(tts, { interface: 'soap-tts' })).not.toThrow();
    expect(problems(sms, { interface: 'soap-tts' })).toEqual([
      'c.yaml:3:10: Interface soap-tts of account "main" has no channel "sms"; expected tts.',
    ]);
  });

  test.each(['rest-1.02', 'rest-1.04'] as const)('can be any in %s', (earlier) => {
    for (const source of [sms, email, fax, voice, tts]) {
      expect(() => check(source, { interface: earlier })).not.toThrow();
    }
  });
});

describe('a message field', () => {
  test('of another channel is refused, with the fields there are', () => {
    expect(problems(`${sms}  EmailSubject: Hi\n  Resolution: High\n`)).toEqual([
      expect.stringMatching(
        /^c\.yaml:9:17: "message\.EmailSubject": not a field of sms in rest-2\.02\..* Its fields: Reference, .*CharacterConversion\.$/,
      ),
      expect.stringMatching(/^c\.yaml:10:15: "message\.Resolution": not a field of sms/),
    ]);
  });

  test.each(['true', 'false'])('that is a boolean can be %s', (value) => {
    expect(() => check(`${sms}  CharacterConversion: ${value}\n`)).not.toThrow();
  });

  test.each(['yes', 'True', '1', '"true "'])('that is a boolean cannot be %s', (value) => {
    expect(problems(`${sms}  CharacterConversion: ${value}\n`)).toEqual([
      `c.yaml:9:24: "message.CharacterConversion": expected true or false, got "${value.replaceAll('"', '')}".`,
    ]);
  });

  test.each(['0', '3', '60'])('that is a number within bounds can be %s', (value) => {
    expect(() => check(`${fax}  RetryPeriod: ${value}\n`)).not.toThrow();
  });

  test.each([
    ['-1', 'expected a whole number, got "-1".'],
    ['1.5', 'expected a whole number, got "1.5".'],
    ['often', 'expected a whole number, got "often".'],
    ['05', 'expected a whole number, got "05".'],
  ])('that is a number within bounds cannot be %s', (value, what) => {
    expect(problems(`${fax}  RetryPeriod: ${value}\n`)).toEqual([
      `c.yaml:9:16: "message.RetryPeriod": ${what}`,
    ]);
  });

  test('out of a list of values is taken in any case', () => {
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
    'beyond what was only observed is refused unless the account allows it: %s  %s',
    (source, field, target, what) => {
      const [name = '', value = ''] = field.split(': ');
      const [problem] = problems(`${source}  ${field}\n`, target);
      expect(problem).toContain(what);
      expect(problem).toContain(`allow it in the account: allow: { ${name}: [${value}] }.`);
      const allow = { [name]: [value] };
      expect(() => check(`${source}  ${field}\n`, { ...target, allow })).not.toThrow();
    },
  );

  test('that the account allows may be any of a range, and nothing else than it allows', () => {
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

  test('over a certain limit is refused, over an observed one is not', () => {
    expect(() =>
      check(`${sms}  Reference: ${'x'.repeat(80)}\n  SubAccount: ${'x'.repeat(99)}\n`),
    ).not.toThrow();
    expect(problems(`${sms}  Reference: ${'x'.repeat(81)}\n`)).toEqual([
      'c.yaml:9:14: "message.Reference": expected at most 80 characters, got 81.',
    ]);
  });

  test('other than the text is one line, because a line break would forge a mail header', () => {
    expect(problems(`${email}  EmailSubject: "Hi\\r\\nBcc: x@example.com"\n`)).toEqual([
      'c.yaml:9:17: "message.EmailSubject": expected one line, got a line break in it.',
    ]);
    expect(() => check(`${head('email')}  MessagePlain: |\n    two\n    lines\n`)).not.toThrow();
  });

  test('with placeholders is judged when they are filled', () => {
    expect(() => check(`${fax}  RetryPeriod: "[[minutes]]"\n  Resolution: "[[quality]]"\n`)).not.toThrow();
  });
});

describe('the text', () => {
  test.each([
    ['sms', 'The sms has no content; expected Message.'],
    ['email', 'The email has no content; expected MessagePlain, MessageHTML or Template.'],
    ['fax', 'The fax has no content; expected Message or "files".'],
  ])('of an %s cannot be missing', (channel, what) => {
    expect(problems(`${head(channel)}  Reference: R\n`)).toEqual([`c.yaml:8:3: ${what}`]);
  });

  test.each(['voice', 'tts'])('of a %s call cannot be missing', (channel) => {
    expect(problems(`${head(channel)}  Reference: R\n`, { interface: 'rest-1.04' })).toEqual([
      `c.yaml:8:3: The ${channel} has no content; expected MessageToPeople.`,
    ]);
  });

  test('cannot be blank', () => {
    expect(problems(`${head('sms')}  Message: "  "\n`)).toEqual([
      'c.yaml:8:3: The sms has no content; expected Message.',
    ]);
  });

  test('of an email can be HTML alone, or a template', () => {
    expect(() => check(`${head('email')}  MessageHTML: <p>Hi</p>\n`)).not.toThrow();
    expect(() => check(`${head('email')}  Template: welcome\n`)).not.toThrow();
  });

  test('of a fax can be its files', () => {
    expect(() => check(`${head('fax')}  Reference: R\nfiles:\n  - file: a.pdf\n`)).not.toThrow();
  });
});

describe('a destination field', () => {
  const named = sms.replace('Recipient: address', 'Recipient: address, First Name: first');

  test('of the current interface can be mapped there', () => {
    expect(() => check(named)).not.toThrow();
  });

  test('that an earlier interface lacks cannot be mapped there', () => {
    expect(problems(named, { interface: 'rest-1.04' })).toEqual([
      'c.yaml:6:46: "contacts.columns.First Name": not a destination field of rest-1.04. Its fields: Recipient, Attention, Company, Custom1, Custom2.',
    ]);
  });
});

describe('files', () => {
  const files = 'files:\n  - file: a.pdf\n';

  test('cannot go along with a call', () => {
    expect(problems(`${voice}${files}`, { interface: 'rest-1.02' })).toEqual([
      'c.yaml:10:3: "files": voice in rest-1.02 takes no files.',
    ]);
  });

  test('cannot have a path or a name of several lines, or a blank one', () => {
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

  test('give a number to each button, written in any order', () => {
    const source = keypads('{ Tone: 9, RouteNumber: +6491 }', '{ Tone: 1, RouteNumber: "[[number]]" }');
    expect(() => check(source, inSoap)).not.toThrow();
    expect(() => check(source, { interface: 'rest-1.04' })).not.toThrow();
  });

  test.each(['0', '10', '"*"', '1.5'])('have no button %s', (tone) => {
    expect(problems(keypads(`{ Tone: ${tone}, RouteNumber: +6491 }`))).toEqual([
      `c.yaml:10:15: "message.Keypads.0.Tone": expected a button from 1 to 9, got "${tone.replaceAll('"', '')}".`,
    ]);
  });

  test('have each button once', () => {
    const source = keypads('{ Tone: 1, RouteNumber: +6491 }', '{ Tone: 1, RouteNumber: +6492 }');
    expect(problems(source)).toEqual([
      'c.yaml:11:15: "message.Keypads.1.Tone": expected each button once, got "1".',
    ]);
  });

  test('are at most 9', () => {
    const lines = Array.from(
      { length: 10 },
      (_, index) => `{ Tone: ${(index % 9) + 1}, RouteNumber: +6491 }`,
    );
    expect(problems(keypads(...lines))).toContain(
      'c.yaml:10:5: "message.Keypads": a telephone has at most 9 buttons.',
    );
  });

  test('cannot have a number that is blank or of several lines', () => {
    const source = keypads('{ Tone: 1, RouteNumber: " " }', '{ Tone: 2, RouteNumber: "1\\n2" }');
    expect(problems(source, inSoap)).toEqual([
      'c.yaml:10:31: "message.Keypads.0.RouteNumber": expected a text, got nothing.',
      'c.yaml:11:31: "message.Keypads.1.RouteNumber": expected one line, got a line break in it.',
    ]);
  });

  test('belong to calls alone', () => {
    expect(problems(`${sms}  Keypads: [{ Tone: 1, RouteNumber: +6491 }]\n`)).toEqual([
      expect.stringMatching(/^c\.yaml:9:12: "message\.Keypads": not a field of sms in rest-2\.02\./),
    ]);
  });
});

describe('the address of reports', () => {
  const reports = (url: string) => `${sms}  WebhookCallbackURL: ${url}\n`;
  const refusal = (url: string) =>
    `c.yaml:9:23: "message.WebhookCallbackURL": expected a full address that begins with https://, got "${url}".`;

  test.each(['https://reports.example/', 'https://reports.example:8443/a?b=c'])('can be %s', (url) => {
    expect(() => check(reports(url))).not.toThrow();
  });

  test.each([
    'reports.example',
    'http://reports.example/',
    'https://',
    'https://a b/',
    'HTTPS://reports.example/',
    'http://127.0.0.1:8080/',
  ])('cannot be %s', (url) => {
    expect(problems(reports(url))).toEqual([refusal(url)]);
  });

  test('can be http on this machine, where the account is on this machine', () => {
    expect(() => check(reports('http://127.0.0.1:8080/'), { loopback: true })).not.toThrow();
    expect(problems(reports('http://reports.example/'), { loopback: true })).toEqual([
      refusal('http://reports.example/'),
    ]);
  });
});

describe('the MessageID', () => {
  test('is refused, because Volley makes it', () => {
    expect(problems(`${sms}  MessageID: abc1\n`)).toEqual([
      'c.yaml:9:14: "message.MessageID": Volley creates it (at most 40 letters and digits, unique to each request); remove it from the campaign.',
    ]);
  });
});

describe('times and zones', () => {
  const timed = (time: string, zone: string) => `${sms}  SendTime: ${time}\n  TimeZone: ${zone}\n`;

  test('are written the same for every interface', () => {
    const source = timed('2026-11-21T18:30', 'Pacific/Auckland');
    expect(() => check(source)).not.toThrow();
    expect(() => check(source, { interface: 'rest-1.02' })).not.toThrow();
  });

  test('must be a time and a zone', () => {
    expect(problems(timed('21/11/2026 18:30', 'Middle Earth'))).toEqual([
      'c.yaml:9:13: "message.SendTime": expected a date and time such as 2026-11-21T18:30, got "21/11/2026 18:30".',
      'c.yaml:10:13: "message.TimeZone": expected a time zone such as Pacific/Auckland or AUS Eastern, got "Middle Earth".',
    ]);
  });

  test('must be such that the interface can say them', () => {
    expect(problems(timed('2026-11-21T18:30:15', 'Pacific/Auckland'), { interface: 'rest-1.04' })).toEqual([
      'c.yaml:9:13: "message.SendTime": expected a time without seconds, which rest-1.04 cannot express, got "2026-11-21T18:30:15".',
    ]);
  });
});

describe('a character', () => {
  const xml = { format: 'xml' } as const;

  test('that XML cannot carry is refused there, whether or not there are placeholders beside it', () => {
    const source = `${head('sms')}  Message: "Hi \\a"\n  Reference: "[[n]] \\uFFFF"\nfiles: [{ file: a.pdf, name: "\\x01" }]\n`;
    expect(problems(source, xml)).toEqual([
      'c.yaml:9:14: "message.Reference": contains U+FFFF, which XML cannot carry.',
      'c.yaml:8:12: "message.Message": contains U+0007, which XML cannot carry.',
      'c.yaml:10:30: "files.0.name": contains U+0001, which XML cannot carry.',
    ]);
    expect(() => check(source)).not.toThrow();
  });

  test.each(['json', 'xml'] as const)('that is half of a pair cannot be carried by %s', (format) => {
    expect(problems(`${head('sms')}  Message: "\\ud83d"\n`, { format })).toEqual([
      'c.yaml:8:12: "message.Message": contains U+D83D, half of a surrogate pair.',
    ]);
  });

  test('that is NUL cannot be kept', () => {
    expect(problems(`${head('sms')}  Message: "a\\0"\n`)).toEqual([
      'c.yaml:8:12: "message.Message": contains a NUL character.',
    ]);
  });
});

describe('a key of an earlier REST interface', () => {
  const source = `${sms}  ForceGSMChars: true\n`;

  test('sets its field there', () => {
    expect(() => check(source, { interface: 'rest-1.02' })).not.toThrow();
    expect(problems(source.replace('true', 'yes'), { interface: 'rest-1.02' })).toEqual([
      'c.yaml:9:18: "message.ForceGSMChars": expected true or false, got "yes".',
    ]);
  });

  test('is refused beside the name of its field', () => {
    expect(problems(`${source}  CharacterConversion: true\n`, { interface: 'rest-1.02' })).toEqual([
      'c.yaml:9:18: "message.ForceGSMChars": the same field as "message.CharacterConversion"; set one of the two.',
    ]);
  });

  test('is refused in the current one, which has another name for it', () => {
    expect(problems(source)).toEqual([
      expect.stringMatching(
        /^c\.yaml:9:18: "message\.ForceGSMChars": not a field of sms in rest-2\.02\. In this interface it is "CharacterConversion"\./,
      ),
    ]);
  });

  test('is not that of a SOAP element', () => {
    expect(problems(`${tts}  caller_id: +6491\n`, { interface: 'soap-tts' })).toEqual([
      'c.yaml:9:3: Unknown key "caller_id" in "message". Did you mean "CallerID"?',
    ]);
  });
});
