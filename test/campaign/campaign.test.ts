import { describe, expect, test } from 'vitest';
import { checkCampaign, readCampaign } from '../../src/campaign/campaign.ts';
import type { CampaignTarget } from '../../src/campaign/target.ts';
import { problemsOf } from '../support/problems.ts';

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
  problemsOf(() => check(source, target));

describe('a campaign', () => {
  test('needs little: the rest has defaults', () => {
    expect(readCampaign(sms, 'c.yaml').value).toEqual({
      campaign: 'notice',
      account: 'main',
      channel: 'sms',
      contacts: { file: 'contacts.csv', columns: { Recipient: 'address' } },
      message: { Message: 'Hello' },
      files: [],
      dispatch: { chunkSize: 200, concurrency: 8, retries: 5 },
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
      'c.yaml:9:15: "message.SubAccount": expected a text, got a list. A text that begins with "[" must stand in quotes: "[[state]]".',
      'c.yaml:10:24: "dispatch.chunkSize": expected a whole number from 1 to 10000, got "0".',
      'c.yaml:10:27: Unknown key "concurency" in "dispatch". Did you mean "concurrency"? Known here: chunkSize, concurrency, retries.',
      'c.yaml:10:51: "dispatch.retries": expected a whole number from 0 to 20, got "21".',
      'c.yaml:12:5: "files.0.file" is missing; expected a file to send along, in the campaign\'s folder.',
    ]);
  });

  test('is told what is missing, and what belongs there', () => {
    expect(problems('campaign: x\n')).toEqual([
      'c.yaml:1:1: "account" is missing; expected an account of the accounts file.',
      'c.yaml:1:1: "channel" is missing; expected email, sms, fax, voice or tts.',
      'c.yaml:1:1: "contacts" is missing; expected the contact file, and which of its columns are sent.',
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
    ['61', 'expected a whole number from 0 to 60, got 61.'],
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
    expect(problems(`${fax}  Resolution: fine\n`)).toEqual([
      'c.yaml:9:15: "message.Resolution": expected Low or High, got "fine".',
    ]);
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
    ['sms', 'The sms has nothing to say; expected Message.'],
    ['email', 'The email has nothing to say; expected MessagePlain, MessageHTML or Template.'],
    ['fax', 'The fax has nothing to say; expected Message or "files".'],
  ])('of an %s cannot be missing', (channel, what) => {
    expect(problems(`${head(channel)}  Reference: R\n`)).toEqual([`c.yaml:8:3: ${what}`]);
  });

  test('cannot be blank', () => {
    expect(problems(`${head('sms')}  Message: "  "\n`)).toEqual([
      'c.yaml:8:3: The sms has nothing to say; expected Message.',
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
