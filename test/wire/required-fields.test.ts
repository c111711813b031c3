import { describe, expect, test } from 'vitest';
import type { SendRequest } from '../../src/domain/message.ts';
import { credentialRefusals, refusals } from '../../src/wire/required-fields.ts';

const refused = (changes: Partial<SendRequest>) =>
  refusals('rest-2.02', {
    channel: 'sms',
    fields: { Message: 'Hi' },
    destinations: [{ Recipient: '+6421' }],
    files: [],
    keypads: [],
    ...changes,
  });

describe('refusals', () => {
  test('a request with all required fields is accepted, whatever they contain', () => {
    expect(refused({})).toEqual([]);
    expect(refused({ destinations: [{ Recipient: 'nonsense' }, { Recipient: '' }] })).toEqual([]);
    for (const name of ['MessagePlain', 'MessageHTML', 'Template']) {
      expect(refused({ channel: 'email', fields: { [name]: 'x' } })).toEqual([]);
    }
    expect(refused({ channel: 'fax', fields: {}, files: [{ Name: 'a', Data: 'QQ==' }] })).toEqual([]);
    expect(refused({ channel: 'fax', fields: { Message: 'x' } })).toEqual([]);
  });

  test('a request without recipients is refused', () => {
    expect(refused({ destinations: [] })).toEqual(['Missing or empty destinations']);
    expect(refused({ destinations: [{ Recipient: ' ' }] })).toEqual([
      'Error - Could not find any valid destination(s).',
    ]);
  });

  test('a message without content is refused', () => {
    expect(refused({ fields: { Message: ' ' } })).toEqual(['Missing or empty message']);
    expect(refused({ channel: 'email', fields: { EmailSubject: 'x' } })).toEqual([
      'Missing or empty message body. Please specify MessagePlain or MessageHTML',
    ]);
    expect(refused({ channel: 'fax', fields: {} })).toEqual([
      'Missing fax contents - Empty or missing message & file fields',
    ]);
  });

  test('a fax with a file without name or data is refused', () => {
    const files = [
      { Name: 'a', Data: 'QQ==' },
      { Name: '', Data: '' },
    ];
    expect(refused({ channel: 'fax', files })).toEqual([
      'Missing file name on file 2',
      'Missing file data on file 2',
    ]);
  });

  test('a callback address without https is refused', () => {
    expect(refused({ fields: { Message: 'x', WebhookCallbackURL: 'http://a.example' } })).toEqual([
      'WebhookCallbackURL must start with https://',
    ]);
    for (const address of ['https://a.example', 'http://127.0.0.1:8080/x', 'http://localhost/x', '']) {
      expect(refused({ fields: { Message: 'x', WebhookCallbackURL: address } })).toEqual([]);
    }
  });

  test('a call without anything to say, and a keypad without tone or number, are refused', () => {
    for (const channel of ['voice', 'tts'] as const) {
      const words = refusals('rest-1.04', {
        channel,
        fields: {},
        destinations: [{ Recipient: '+6421' }],
        files: [],
        keypads: [
          { Tone: '1', RouteNumber: '+649' },
          { Tone: '', RouteNumber: '' },
        ],
      });
      expect(words).toEqual([
        'Missing message to people',
        'Missing tone on keypad 2',
        'Missing RouteNumber/Play on keypad 2',
      ]);
    }
  });

  test('a body without its sender or key is refused in the versions that put them there', () => {
    expect(credentialRefusals({ kind: 'apiKey', sender: '', apiKey: ' ' })).toEqual([
      'Missing Sender',
      'Missing APIKey',
    ]);
    expect(credentialRefusals({ kind: 'senderToken', sender: 'a', token: '' })).toEqual(['Missing token']);
    expect(credentialRefusals({ kind: 'apiKey', sender: 'a', apiKey: 'b' })).toEqual([]);
    expect(credentialRefusals(undefined)).toEqual([]);
  });
});
