import { describe, expect, test } from 'vitest';
import { destinationFields } from '../../src/domain.ts';
import {
  isServicePlaceholder,
  mergedByService,
  messageFieldNames,
  messageFields,
} from '../../src/wire/fields.ts';

const names = (channel: 'email' | 'sms' | 'fax' | 'voice') =>
  messageFields('rest-2.02', channel).map(({ name }) => name);

describe('the fields of a message', () => {
  test('are those of interface.md, 2.1 and 2.4, for an email', () => {
    expect(names('email')).toEqual([
      ...['Reference', 'WebhookCallbackURL', 'WebhookCallbackFormat', 'SendTime', 'TimeZone'],
      ...['SubAccount', 'Department', 'ChargeCode', 'EmailSubject', 'SMTPFrom', 'From', 'FromEmail'],
      ...['CCEmail', 'ReplyTo', 'MessagePlain', 'MessageHTML', 'TemplateLocation', 'Template'],
    ]);
  });

  test('are those of 2.5 for an SMS and of 2.6 for a fax, after the common ones', () => {
    expect(names('sms').slice(8)).toEqual(['Message', 'FromNumber', 'SMSEmailReply', 'CharacterConversion']);
    expect(names('fax').slice(8)).toEqual(['Resolution', 'CSID', 'RetryAttempts', 'RetryPeriod', 'Message']);
  });

  test('are none where the interface lacks the channel', () => {
    expect(names('voice')).toEqual([]);
  });

  test('never include what belongs to the request', () => {
    for (const name of ['MessageID', 'Destinations', 'Files']) expect(messageFieldNames).not.toContain(name);
  });

  test('say which limits are certain and which were only observed', () => {
    const [reference] = messageFields('rest-2.02', 'sms').filter(({ name }) => name === 'Reference');
    const [subAccount] = messageFields('rest-2.02', 'sms').filter(({ name }) => name === 'SubAccount');
    expect(reference).toMatchObject({ limit: 80, source: 'interface' });
    expect(subAccount).toMatchObject({ limit: 40, source: 'observed' });
  });
});

test('the service merges every destination field but the recipient, into the text of an SMS and nowhere else', () => {
  expect(mergedByService('rest-2.02', 'sms')).toEqual({
    field: 'Message',
    destinationFields: destinationFields.slice(1),
  });
  expect(mergedByService('rest-2.02', 'email')).toBeUndefined();
  expect(mergedByService('rest-2.02', 'fax')).toBeUndefined();
});

describe('a placeholder of the service', () => {
  test.each(['File1', 'File12', 'Reply', 'REPLY', 'reply', 'STOP', 'Link:https://a.example/b?c=d'])(
    '%s is known in an SMS',
    (name) => {
      expect(isServicePlaceholder('sms', name)).toBe(true);
      expect(isServicePlaceholder('email', name)).toBe(false);
    },
  );

  test.each(['File', 'File0', 'First Name', 'Stopped', 'Links', ''])('%s is not one', (name) => {
    expect(isServicePlaceholder('sms', name)).toBe(false);
  });
});
