import { describe, expect, test } from 'vitest';
import type { SendRequest } from '../../src/domain.ts';
import { refusals } from '../../src/wire/required.ts';

const refused = (changes: Partial<SendRequest>) =>
  refusals('rest-2.02', {
    channel: 'sms',
    fields: { Message: 'Hi' },
    destinations: [{ Recipient: '+6421' }],
    files: [],
    ...changes,
  });

describe('the service refuses', () => {
  test('nothing when the required fields are there, whatever they hold', () => {
    expect(refused({})).toEqual([]);
    expect(refused({ destinations: [{ Recipient: 'nonsense' }, { Recipient: '' }] })).toEqual([]);
    for (const name of ['MessagePlain', 'MessageHTML', 'Template']) {
      expect(refused({ channel: 'email', fields: { [name]: 'x' } })).toEqual([]);
    }
    expect(refused({ channel: 'fax', fields: {}, files: [{ Name: 'a', Data: 'QQ==' }] })).toEqual([]);
    expect(refused({ channel: 'fax', fields: { Message: 'x' } })).toEqual([]);
  });

  test('a request without recipients', () => {
    expect(refused({ destinations: [] })).toEqual(['Missing or empty destinations']);
    expect(refused({ destinations: [{ Recipient: ' ' }] })).toEqual([
      'Error - Could not find any valid destination(s).',
    ]);
  });

  test('a message without content', () => {
    expect(refused({ fields: { Message: ' ' } })).toEqual(['Missing or empty message']);
    expect(refused({ channel: 'email', fields: { EmailSubject: 'x' } })).toEqual([
      'Missing or empty message body. Please specify MessagePlain or MessageHTML',
    ]);
    expect(refused({ channel: 'fax', fields: {} })).toEqual([
      'Missing fax contents - Empty or missing message & file fields',
    ]);
  });

  test('a fax with a file that lacks its name or its data', () => {
    const files = [
      { Name: 'a', Data: 'QQ==' },
      { Name: '', Data: '' },
    ];
    expect(refused({ channel: 'fax', files })).toEqual([
      'Missing file name on file 2',
      'Missing file data on file 2',
    ]);
  });

  test('a callback address without https', () => {
    expect(refused({ fields: { Message: 'x', WebhookCallbackURL: 'http://a.example' } })).toEqual([
      'WebhookCallbackURL must start with https://',
    ]);
  });
});
